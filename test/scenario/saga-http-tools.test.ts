import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import type { Observation } from '../../contract/saga-observation.ts';
import { defineTool } from '../../kit/define-tool.ts';
import { ToolRejected } from '../../kit/outcomes.ts';
import { startTestCloud, type TestCloud } from '../support/cloud.ts';
import { serveHttpTools } from '../support/http-tools.ts';

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
  externalUrl: '"https://hotel.example/rooms/" & externalRef',
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
let endpoint: string;
let served: Awaited<ReturnType<typeof serveHttpTools>>;

beforeAll(async () => {
  cloud = await startTestCloud();
  served = await serveHttpTools(cloud, [reserve]);
  ({ endpoint } = served);
});
afterAll(async () => {
  served.close();
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

test('a saga whose tools are HTTP endpoints commits', async () => {
  expect(await run('both')).toMatchObject({ status: 'COMPLETED' });
  expect([...rooms]).toEqual([
    ['both:0', 'first'],
    ['both:1', 'second'],
  ]);
  expect(served.seen.unsigned).toBe(0);
});

test('where the provider shows an effect is stored and answered', async () => {
  const externalUrl = 'https://hotel.example/rooms/linked:0';
  expect((await run('linked')).committed[0]).toMatchObject({ externalRef: 'linked:0', externalUrl });
  const { entries } = await cloud.invoke('query-ledger', { externalRef: 'linked:0' });
  expect(entries).toMatchObject([{ external_ref: 'linked:0', external_url: externalUrl }]);
  const { csv } = await cloud.invoke('query-ledger', { sagaId: 'linked', view: 'effects', format: 'csv' });
  expect(csv).toContain(`"${externalUrl}"`);
});

test('the catalog says where such a tool is served', async () => {
  const { tools } = await cloud.invoke('list-catalog', {});
  const own = (tools as { functionName: string }[]).filter(
    ({ functionName }) => functionName !== 'walkback-workspace-tools',
  );
  expect(own).toMatchObject([{ name: 'reserve', functionName: 'walkback-http-tool', endpoint }]);
});

test('and takes step one back over HTTP when step two is refused', async () => {
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
