import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { postJson } from '../../adapters/http/post.ts';
import { createPutCatalog } from '../../core/saga/plan/put-catalog.ts';
import { endpointKey } from '../../core/saga/tools/http-signature.ts';
import { createHttpTool } from '../../core/saga/tools/http-tool.ts';
import { memoryTombstones } from '../../kit/conformance.ts';
import { defineTool } from '../../kit/define-tool.ts';
import { manifestOf } from '../../kit/manifest.ts';
import { memorySagaStore } from '../../kit/testing/memory-saga-store.ts';
import { sagaMachine } from '../../kit/testing/saga-machine.ts';
import { virtualClock } from '../../kit/testing/virtual-clock.ts';
import { verifySignature } from '../../kit/verify-signature.ts';
import { errorOf } from '../support/error-of.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { endingAfter } from '../support/tool-functions.ts';
import { cutShort, requestOf } from '../support/tool-requests.ts';

const SECRET = 'a secret of this test';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let answer: Answer;
let seen: { request: IncomingMessage; body: string }[];
let url: string;

const server = createServer((request, response) => {
  void text(request).then((body) => {
    seen.push({ request, body });
    answer(request, response);
  });
});

const stop = (listener: Server) => new Promise((resolve) => listener.close(resolve));

beforeAll(async () => {
  url = `http://127.0.0.1:${await listenOnLoopback(server)}/tools?of=us`;
});
afterAll(async () => {
  server.closeAllConnections();
  await stop(server);
});
beforeEach(() => {
  seen = [];
  answer = (_, response) => response.end('{"outcome":"committed","result":1}');
});

const make = (more: Partial<Parameters<typeof createHttpTool>[0]> = {}) =>
  createHttpTool({
    post: postJson,
    readSecret: async () => SECRET,
    tombstones: memoryTombstones(),
    now: Date.now,
    loopback: true,
    endInstance: () => expect.unreachable('the call did not stop'),
    ...more,
  });

const look = defineTool({
  name: 'look',
  version: '1',
  description: '',
  effect: 'read',
  input: z.strictObject({}),
  output: z.null(),
  execute: async () => null,
});

const sends =
  (status: number, body = '', headers = {}): Answer =>
  (_, response) =>
    response.writeHead(status, headers).end(body);

describe('what an endpoint answers becomes one of three outcomes (S2)', () => {
  const cases: [string, Answer, object][] = [
    [
      'an outcome',
      sends(200, '{"outcome":"rejected","retryable":true,"error":{"name":"Busy","message":"later"}}'),
      { outcome: 'rejected', retryable: true, error: { name: 'Busy', message: 'later' } },
    ],
    ['429', sends(429), { outcome: 'rejected', retryable: true, error: { name: 'Http429' } }],
    [
      '503 that says when to come back',
      sends(503, '', { 'retry-after': '1' }),
      { outcome: 'rejected', retryable: true },
    ],
    ['503 that does not', sends(503), { outcome: 'unknown', answered: true, error: { name: 'Http503' } }],
    ['400', sends(400), { outcome: 'rejected', retryable: false, error: { name: 'Http400' } }],
    ...[408, 409, 425, 499].map((status): [string, Answer, object] => [
      `${status}: how far it came is not said`,
      sends(status),
      { outcome: 'unknown', answered: false, error: { name: `Http${status}` } },
    ]),
    ['401', sends(401), { outcome: 'rejected', retryable: false }],
    ['500', sends(500, '{"outcome":"committed","result":1}'), { outcome: 'unknown', answered: true }],
    ['a redirect', sends(307, '', { location: '/elsewhere' }), { outcome: 'unknown', answered: true }],
    ['no JSON', sends(200, '<html>'), { outcome: 'unknown', error: { name: 'InvalidResult' } }],
    ['nothing', sends(204), { outcome: 'unknown', error: { name: 'InvalidResult' } }],
    [
      'more than 256 KiB',
      sends(200, JSON.stringify({ outcome: 'committed', result: 'x'.repeat(262_144) })),
      { outcome: 'unknown', error: { name: 'ResultTooLarge' } },
    ],
    [
      'a closed connection',
      (asked) => asked.socket.destroy(),
      { outcome: 'unknown', answered: false, error: { name: 'ConnectionLost' } },
    ],
    [
      'half an answer',
      (asked, response) => {
        response
          .writeHead(200, { 'content-length': '100' })
          .write('{"outcome"', () => asked.socket.destroy());
      },
      { outcome: 'unknown', answered: false, error: { name: 'ConnectionLost' } },
    ],
  ];
  test.each(cases)('%s', async (_, answering, expected) => {
    answer = answering;
    expect(await make()({ ...requestOf(), endpoint: url })).toMatchObject(expected);
    expect(seen).toHaveLength(1);
  });

  test('silence until the deadline, and the connection is given up', async () => {
    const closed = Promise.withResolvers<void>();
    answer = (asked) => asked.socket.once('close', () => closed.resolve());
    const outcome = await cutShort((deadlineMs) => make()({ ...requestOf({ deadlineMs }), endpoint: url }));
    expect(outcome).toMatchObject({ outcome: 'unknown', error: { name: 'DeadlinePassed' } });
    await closed.promise;
  });

  test('nobody listens: nothing was sent', async () => {
    const gone = createTcpServer();
    const port = await listenOnLoopback(gone);
    await stop(gone);
    const outcome = await make()({ ...requestOf(), endpoint: `http://127.0.0.1:${port}/` });
    expect(outcome).toMatchObject({
      outcome: 'rejected',
      retryable: true,
      error: { name: 'ToolUnavailable' },
    });
  });

  test('no TLS where it should be: nothing was sent', async () => {
    const endpoint = url.replace('http:', 'https:');
    expect(await make()({ ...requestOf(), endpoint })).toMatchObject({
      outcome: 'rejected',
      retryable: true,
    });
    expect(seen).toEqual([]);
  });

  test('a loopback host, deployed: nothing was sent', async () => {
    for (const endpoint of [
      url,
      'http://localhost:9001/2018-06-01/runtime/invocation/next',
      'http://127.1/',
    ]) {
      expect(await make({ loopback: false })({ ...requestOf(), endpoint })).toMatchObject({
        outcome: 'rejected',
        retryable: false,
      });
    }
    expect(seen).toEqual([]);
  });

  test('no secret: nothing was sent', async () => {
    const readSecret = () => Promise.reject(new Error('no such secret'));
    const outcome = await make({ readSecret })({ ...requestOf(), endpoint: url });
    expect(outcome).toMatchObject({ outcome: 'rejected', retryable: true });
    expect(seen).toEqual([]);
  });
});

describe('a call', () => {
  test('is the request without the endpoint, signed, with its key', async () => {
    const asked = requestOf();
    await make()({ ...asked, endpoint: url });
    const [call] = seen;
    expect(call?.request).toMatchObject({
      method: 'POST',
      url: '/tools?of=us',
      headers: { 'content-type': 'application/json', 'idempotency-key': 's:0' },
    });
    expect(JSON.parse(call?.body ?? '')).toEqual(asked);
    const given = { url, headers: call?.request.headers ?? {}, body: call?.body ?? '' };
    expect(verifySignature(given, endpointKey(SECRET, url))).toBe(true);
  });

  test('does not leave past its deadline, nor forward once its key is buried (S3, S4)', async () => {
    const tombstones = memoryTombstones();
    const call = make({ tombstones });
    expect(await call({ ...requestOf({ deadlineMs: Date.now() }), endpoint: url })).toMatchObject({
      outcome: 'rejected',
      error: { name: 'DeadlinePassed' },
    });
    expect(seen).toEqual([]);
    let buriedFirst = false;
    answer = (_, response) => {
      void tombstones.isBuried('s:0').then((buried) => {
        buriedFirst = buried;
        response.end('{"outcome":"committed","result":null}');
      });
    };
    const undo = requestOf({ operation: 'compensate', idempotencyKey: 's:0:undo' });
    expect(await call({ ...undo, endpoint: url })).toMatchObject({ outcome: 'committed' });
    expect(buriedFirst).toBe(true);
    expect(await call({ ...requestOf(), endpoint: url })).toMatchObject({
      outcome: 'rejected',
      retryable: false,
      error: { name: 'Fenced' },
    });
    expect(seen).toHaveLength(1);
  });
});

describe('the catalog', () => {
  const put = (manifest: object, loopbackTools = true) =>
    createPutCatalog({ store: memorySagaStore().store, functions: endingAfter(900), loopbackTools })({
      tools: [manifest],
      definitions: [],
    });

  test.each([
    'https://tools.example/look?v=1',
    'http://127.0.0.1:8080/',
    'http://localhost/x',
    'http://[::1]:1/',
  ])('takes %s', async (endpoint) => {
    const manifest = manifestOf(look, { endpoint });
    expect(manifest).toMatchObject({ functionName: 'walkback-http-tool', endpoint });
    await expect(put(manifest)).resolves.toMatchObject({ versions: [{ stored: true }] });
  });

  test.each([
    ['/look', 'endpoint-url'],
    [' https://tools.example', 'endpoint-url'],
    ['http://tools.example/look', 'endpoint-scheme'],
    ['http://127.0.0.1.example/', 'endpoint-scheme'],
    ['file:///etc/passwd', 'endpoint-scheme'],
    ['https://me:hunter2@tools.example', 'endpoint-credentials'],
    ['https://tools.example/#here', 'endpoint-fragment'],
  ])('refuses %s', async (endpoint, rule) => {
    const refused = put(manifestOf(look, { endpoint }));
    await expect(refused).rejects.toMatchObject(errorOf('CatalogRefused', `tool look@1: ${rule}: `));
    await expect(refused).rejects.not.toThrow('hunter2');
  });

  test('refuses a loopback host where it is deployed', async () => {
    await expect(put(manifestOf(look, { endpoint: 'https://a.example' }), false)).resolves.toBeDefined();
    for (const endpoint of ['http://localhost/x', 'http://127.0.0.1:9001/', 'https://[::1]:1/']) {
      await expect(put(manifestOf(look, { endpoint }), false)).rejects.toMatchObject(
        errorOf('CatalogRefused', 'tool look@1: endpoint-loopback: '),
      );
    }
  });

  test.each([
    [
      'an endpoint behind another function',
      { functionName: 'walkback-tool-x', endpoint: 'https://a.example' },
    ],
    ['the function without an endpoint', { functionName: 'walkback-http-tool' }],
  ])('refuses %s', async (_, more) => {
    await expect(put({ ...manifestOf(look, 'walkback-tool-x'), ...more })).rejects.toMatchObject({
      message: expect.stringContaining('tool look@1: endpoint-function: '),
    });
  });
});

describe('in a saga', () => {
  test('its function is the one of the deployment, whatever that is called', async () => {
    const { store } = memorySagaStore();
    const endpoint = 'https://tools.example/look';
    await createPutCatalog({ functions: endingAfter(900), store })({
      tools: [manifestOf(look, { endpoint })],
      definitions: [],
    });
    const called: unknown[] = [];
    const machine = sagaMachine({
      store,
      clock: virtualClock(),
      httpToolFunction: 'second-http-tool',
      invoke: async (functionName, payload) => {
        called.push(functionName, payload);
        return { Payload: { outcome: 'committed', result: null } };
      },
    });
    const plan = { steps: [{ id: 'one', tool: 'look', arguments: {} }] };
    await machine.start({ sagaId: 's', plan, input: {}, requestedBy: 'me' });
    await machine.settle();
    expect(called).toEqual(['second-http-tool', expect.objectContaining({ endpoint })]);
  });
});
