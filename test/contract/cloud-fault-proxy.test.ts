import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { listenOnLoopback } from '../support/loopback.ts';

/** Every body the service got, in order. */
let received: string[] = [];
let service: Server;
let target: string;
let proxy: FaultProxy | undefined;

beforeAll(async () => {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    received.push(Buffer.concat(await request.toArray()).toString());
    response.setHeader('x-host', request.headers.host ?? '');
    if (request.url !== '/stream') {
      response.end(`answer ${received.length}`);
      return;
    }
    // Like a Connect stream: says something, and goes on only when it is told to.
    response.write('first');
    service.once('go-on', () => response.end('second'));
  };
  service = createServer((request, response) => void answer(request, response));
  target = `http://127.0.0.1:${await listenOnLoopback(service)}`;
});
afterAll(() => {
  service.close();
  service.closeAllConnections();
});
afterEach(async () => {
  await proxy?.close();
  received = [];
});

const start = async (plan: Fault[] = []): Promise<FaultProxy> => {
  proxy = await startFaultProxy({ target, plan });
  return proxy;
};

const post = async (url: string, body: string, headers: Record<string, string> = {}): Promise<string> =>
  (await fetch(url, { method: 'POST', body, headers })).text();

test('without a fault everything passes, with the host that was signed', async () => {
  const { url } = await start();
  const answer = await fetch(`${url}/a?b=c`, { method: 'POST', body: 'x' });
  expect([answer.status, await answer.text()]).toEqual([200, 'answer 1']);
  expect(answer.headers.get('x-host')).toBe(new URL(url).host);
});

test('a status is answered at the n-th matching request only, and the service never sees it', async () => {
  const { url, seen } = await start([
    { match: { operation: /PutItem$/ }, at: 2, action: { kind: 'status', status: 503, body: 'slow down' } },
  ]);
  const operation = (name: string) => ({ 'x-amz-target': `DynamoDB_20120810.${name}` });
  expect(await post(url, '1', operation('PutItem'))).toBe('answer 1');
  expect(await post(url, '2', operation('GetItem'))).toBe('answer 2');
  expect(await post(url, '3', operation('PutItem'))).toBe('slow down');
  expect(await post(url, '4', operation('PutItem'))).toBe('answer 3');
  expect(received).toEqual(['1', '2', '4']);
  expect(seen.map((request) => request.action)).toEqual([undefined, undefined, 'status', undefined]);
});

test('a dropped request is not seen by the service; a lost answer is', async () => {
  const { url } = await start([
    { at: 1, action: { kind: 'drop' } },
    { at: 2, action: { kind: 'lose-answer' } },
  ]);
  await expect(post(url, 'dropped')).rejects.toThrow('fetch failed');
  await expect(post(url, 'lost')).rejects.toThrow('fetch failed');
  expect(received).toEqual(['lost']);
});

test('a duplicate reaches the service twice, and the first answer comes back', async () => {
  const { url } = await start([{ at: 1, action: { kind: 'duplicate' } }]);
  expect(await post(url, 'twice')).toBe('answer 1');
  expect(received).toEqual(['twice', 'twice']);
});

test('a stream arrives while it runs, and can be cut off', async () => {
  const faulty = await start();
  const { url } = faulty;
  const answer = await fetch(`${url}/stream`);
  const reader = answer.body?.getReader();
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('first');
  service.emit('go-on');
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('second');

  faulty.setPlan([{ match: { path: '/stream' }, action: { kind: 'cut-answer', afterBytes: 3 } }]);
  const cut = await fetch(`${url}/stream`);
  const start2 = cut.body?.getReader();
  expect(Buffer.from((await start2?.read())?.value ?? []).toString()).toBe('fir');
  await expect(start2?.read()).rejects.toThrow();
});

test('frozen: from the n-th request on nothing gets through, and closing breaks what waits', async () => {
  const faulty = await start([{ at: 2, action: { kind: 'freeze' } }]);
  expect(await post(faulty.url, '1')).toBe('answer 1');
  const waiting = Promise.allSettled([post(faulty.url, '2'), post(faulty.url, '3')]);
  await faulty.reached(3);
  expect(received).toEqual(['1']);
  await faulty.close();
  expect((await waiting).map((result) => result.status)).toEqual(['rejected', 'rejected']);
  expect(received).toEqual(['1']);
});

test('a service that is gone looks gone', async () => {
  proxy = await startFaultProxy({ target: 'http://127.0.0.1:1' });
  await expect(post(proxy.url, 'x')).rejects.toThrow('fetch failed');
});
