import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { postJson } from '../../adapters/http/post.ts';
import { signatureHeader } from '../../core/saga/http-signature.ts';
import { makeHttpTool } from '../../core/saga/http-tool.ts';
import { makePutCatalog } from '../../core/saga/put-catalog.ts';
import type { ToolRequest } from '../../core/saga/tool-protocol.ts';
import { memoryTombstones } from '../../kit/conformance.ts';
import { defineTool } from '../../kit/define-tool.ts';
import { manifestOf } from '../../kit/manifest.ts';
import { verifySignature } from '../../kit/verify-signature.ts';
import { memorySagaStore } from '../support/memory-saga-store.ts';

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

const listen = async (listener: Server): Promise<number> => {
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  return (listener.address() as AddressInfo).port;
};
const stop = (listener: Server) => new Promise((resolve) => listener.close(resolve));

beforeAll(async () => {
  url = `http://127.0.0.1:${await listen(server)}/tools?of=us`;
});
afterAll(async () => {
  server.closeAllConnections();
  await stop(server);
});
beforeEach(() => {
  seen = [];
  answer = (_, response) => response.end('{"outcome":"committed","result":1}');
});

const request = (more: Partial<ToolRequest> = {}): ToolRequest => ({
  operation: 'execute',
  tool: 'act',
  version: '1',
  sagaId: 's',
  step: 'a',
  attempt: 1,
  idempotencyKey: 's:0',
  forwardKey: 's:0',
  deadlineMs: Date.now() + 5000,
  arguments: { n: 1 },
  ...more,
});

const make = (more: Partial<Parameters<typeof makeHttpTool>[0]> = {}) =>
  makeHttpTool({
    post: postJson,
    readSecret: async () => SECRET,
    tombstones: memoryTombstones(),
    now: Date.now,
    ...more,
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
    ['401', sends(401), { outcome: 'rejected', retryable: false }],
    ['500', sends(500, '{"outcome":"committed","result":1}'), { outcome: 'unknown', answered: true }],
    ['a redirect', sends(307, '', { location: '/elsewhere' }), { outcome: 'unknown', answered: true }],
    ['no JSON', sends(200, '<html>'), { outcome: 'unknown', error: { name: 'InvalidResult' } }],
    ['nothing', sends(204), { outcome: 'unknown', error: { name: 'InvalidResult' } }],
    [
      'more than 64 KiB',
      sends(200, JSON.stringify({ outcome: 'committed', result: 'x'.repeat(65_536) })),
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
  it.each(cases)('%s', async (_, answering, expected) => {
    answer = answering;
    expect(await make()({ ...request(), endpoint: url })).toMatchObject(expected);
    expect(seen).toHaveLength(1);
  });

  it('silence until the deadline, and the connection is given up', async () => {
    const closed = Promise.withResolvers<void>();
    answer = (asked) => asked.socket.once('close', () => closed.resolve());
    const outcome = await make()({ ...request({ deadlineMs: Date.now() + 250 }), endpoint: url });
    expect(outcome).toMatchObject({ outcome: 'unknown', error: { name: 'DeadlinePassed' } });
    await closed.promise;
  });

  it('nobody listens: nothing was sent', async () => {
    const gone = createTcpServer();
    const port = await listen(gone);
    await stop(gone);
    const outcome = await make()({ ...request(), endpoint: `http://127.0.0.1:${port}/` });
    expect(outcome).toMatchObject({
      outcome: 'rejected',
      retryable: true,
      error: { name: 'ToolUnavailable' },
    });
  });

  it('no TLS where it should be: nothing was sent', async () => {
    const endpoint = url.replace('http:', 'https:');
    expect(await make()({ ...request(), endpoint })).toMatchObject({ outcome: 'rejected', retryable: true });
    expect(seen).toEqual([]);
  });

  it('no secret: nothing was sent', async () => {
    const readSecret = () => Promise.reject(new Error('no such secret'));
    const outcome = await make({ readSecret })({ ...request(), endpoint: url });
    expect(outcome).toMatchObject({ outcome: 'rejected', retryable: true });
    expect(seen).toEqual([]);
  });
});

describe('a call', () => {
  it('is the request without the endpoint, signed, with its key', async () => {
    const asked = request();
    await make()({ ...asked, endpoint: url });
    const [call] = seen;
    expect(call?.request).toMatchObject({
      method: 'POST',
      url: '/tools?of=us',
      headers: { 'content-type': 'application/json', 'idempotency-key': 's:0' },
    });
    expect(JSON.parse(call?.body ?? '')).toEqual(asked);
    expect(verifySignature(call?.request.headers ?? {}, call?.body ?? '', SECRET)).toBe(true);
  });

  it('does not leave past its deadline, nor forward once its key is buried (S3, S4)', async () => {
    const tombstones = memoryTombstones();
    const call = make({ tombstones });
    expect(await call({ ...request({ deadlineMs: Date.now() }), endpoint: url })).toMatchObject({
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
    const undo = request({ operation: 'compensate', idempotencyKey: 's:0:undo' });
    expect(await call({ ...undo, endpoint: url })).toMatchObject({ outcome: 'committed' });
    expect(buriedFirst).toBe(true);
    expect(await call({ ...request(), endpoint: url })).toMatchObject({
      outcome: 'rejected',
      retryable: false,
      error: { name: 'Fenced' },
    });
    expect(seen).toHaveLength(1);
  });
});

describe('a signature', () => {
  const seconds = 1_700_000_000;
  const headers = { 'Walkback-Signature': signatureHeader(SECRET, seconds, '{"a":1}') };
  const at = (offset: number) => ({ now: () => (seconds + offset) * 1000 });

  it('holds for its body, its secret and its time', () => {
    expect(verifySignature(headers, '{"a":1}', SECRET, at(0))).toBe(true);
    expect(verifySignature(new Headers(headers), Buffer.from('{"a":1}'), SECRET, at(300))).toBe(true);
    expect(verifySignature(headers, '{"a":1}', SECRET, { ...at(900), toleranceSeconds: 1000 })).toBe(true);
  });

  const other = headers['Walkback-Signature'];
  it.each([
    ['a tampered body', headers, '{"a":2}', SECRET, 0],
    ['another secret', headers, '{"a":1}', 'guess', 0],
    ['an old call', headers, '{"a":1}', SECRET, 301],
    ['a call from the future', headers, '{"a":1}', SECRET, -301],
    [
      'a new time on it',
      { 'walkback-signature': other.replace('t=17', 't=18') },
      '{"a":1}',
      SECRET,
      100_000_000,
    ],
    ['no header', {}, '{"a":1}', SECRET, 0],
    ['half a header', { 'walkback-signature': other.slice(0, -1) }, '{"a":1}', SECRET, 0],
    ['two headers', { 'walkback-signature': [other, other] }, '{"a":1}', SECRET, 0],
  ])('does not hold for %s', (_, given, body, secret, offset) => {
    expect(verifySignature(given, body, secret, at(offset))).toBe(false);
  });
});

describe('the catalog', () => {
  const tool = defineTool({
    name: 'look',
    version: '1',
    description: '',
    effect: 'read',
    input: z.strictObject({}),
    output: z.null(),
    execute: async () => null,
  });
  const put = (manifest: object) =>
    makePutCatalog({ store: memorySagaStore().store })({ tools: [manifest], definitions: [] });

  it.each([
    'https://tools.example/look?v=1',
    'http://127.0.0.1:8080/',
    'http://localhost/x',
    'http://[::1]:1/',
  ])('takes %s', async (endpoint) => {
    const manifest = manifestOf(tool, { endpoint });
    expect(manifest).toMatchObject({ functionName: 'walkback-http-tool', endpoint });
    await expect(put(manifest)).resolves.toMatchObject({ versions: [{ stored: true }] });
  });

  it.each([
    ['/look', 'endpoint-url'],
    [' https://tools.example', 'endpoint-url'],
    ['http://tools.example/look', 'endpoint-scheme'],
    ['http://127.0.0.1.example/', 'endpoint-scheme'],
    ['file:///etc/passwd', 'endpoint-scheme'],
    ['https://me:hunter2@tools.example', 'endpoint-credentials'],
    ['https://tools.example/#here', 'endpoint-fragment'],
  ])('refuses %s', async (endpoint, rule) => {
    const refused = put(manifestOf(tool, { endpoint }));
    await expect(refused).rejects.toMatchObject({
      name: 'CatalogRefused',
      message: expect.stringContaining(`tool look@1: ${rule}: `),
    });
    await expect(refused).rejects.not.toThrow('hunter2');
  });

  it.each([
    [
      'an endpoint behind another function',
      { functionName: 'walkback-tool-x', endpoint: 'https://a.example' },
    ],
    ['the function without an endpoint', { functionName: 'walkback-http-tool' }],
  ])('refuses %s', async (_, more) => {
    await expect(put({ ...manifestOf(tool, 'walkback-tool-x'), ...more })).rejects.toMatchObject({
      message: expect.stringContaining('tool look@1: endpoint-function: '),
    });
  });
});
