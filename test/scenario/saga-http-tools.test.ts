import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import * as z from 'zod';
import { readSecret } from '../../adapters/aws/secret.ts';
import type { Observation } from '../../core/saga/observation.ts';
import { memoryTombstones } from '../../kit/conformance.ts';
import { defineTool } from '../../kit/define-tool.ts';
import { toolHandler } from '../../kit/handler.ts';
import { manifestOf } from '../../kit/manifest.ts';
import { ToolRejected } from '../../kit/outcomes.ts';
import { verifySignature } from '../../kit/verify-signature.ts';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';

/** What stands at the provider, by the key of the call that made it. */
const rooms = new Map<string, string>();
let soldOut = false;

const reserve = defineTool({
  name: 'reserve',
  version: '1',
  description: 'Reserves a room',
  effect: 'compensatable',
  timeoutSeconds: 5,
  input: z.strictObject({ room: z.string(), after: z.string().optional() }),
  output: z.object({ key: z.string() }),
  externalRef: ({ key }) => key,
  execute: async ({ room }, call) => {
    if (soldOut && room === 'second') throw new ToolRejected('SoldOut', 'There is no such room left.');
    rooms.set(call.idempotencyKey, room);
    return { key: call.idempotencyKey };
  },
  compensate: {
    name: 'release',
    execute: async (_, call) => void rooms.delete(call.forwardKey),
  },
});

let cloud: TestCloud;
let unsigned = 0;
const serve = toolHandler([reserve], { tombstones: memoryTombstones() });
let secret: string;
const server = createServer((request, response) => {
  void text(request).then(async (body) => {
    if (!verifySignature(request.headers, body, secret)) {
      unsigned += 1;
      response.writeHead(401).end();
      return;
    }
    response.end(JSON.stringify(await serve(JSON.parse(body))));
  });
});

beforeAll(async () => {
  cloud = await startTestCloud();
  secret = await readSecret(cloud.environment['WALKBACK_HTTP_TOOL_SECRET_ARN'] ?? '');
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/reserve`;
  await cloud.invoke('put-catalog', { tools: [manifestOf(reserve, { endpoint })], definitions: [] });
});
afterAll(async () => {
  server.close();
  await cloud.close();
});
beforeEach(() => {
  soldOut = false;
  rooms.clear();
});

const run = async (sagaId: string) => {
  const plan = {
    steps: [
      { id: 'one', tool: 'reserve', arguments: { room: 'first' } },
      { id: 'two', tool: 'reserve', arguments: { room: 'second', after: '{% steps.one.result.key %}' } },
    ],
  };
  await cloud.invoke('start-saga', { sagaId, plan, input: {}, requestedBy: 'agent-7' });
  return (await cloud.invoke('describe-saga', { sagaId, waitSeconds: 40 })) as unknown as Observation;
};

it('a saga whose tools are HTTP endpoints commits', async () => {
  expect(await run('both')).toMatchObject({ status: 'COMPLETED' });
  expect([...rooms]).toEqual([
    ['both:0', 'first'],
    ['both:1', 'second'],
  ]);
  expect(unsigned).toBe(0);
});

it('and takes step one back over HTTP when step two is refused', async () => {
  soldOut = true;
  const seen = await run('back');
  expect(seen).toMatchObject({
    status: 'COMPENSATED',
    failed: { step: 'two', error: { name: 'SoldOut' } },
    notCompensated: [],
  });
  expect(seen.compensated).toMatchObject([{ step: 'one', externalRef: 'back:0' }]);
  expect([...rooms]).toEqual([]);
});
