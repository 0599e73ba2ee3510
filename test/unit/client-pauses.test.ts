/** How the client asks again: with pauses that grow and differ, the same request each time, and never what would be doubled (K1). */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { openNamed } from '../../client/connect.ts';
import { errors } from '../../client/errors.ts';
import { createCall } from '../../client/invoke.ts';
import type { ClientFunction } from '../../client/timeouts.ts';
import { pause } from '../../client/waiting.ts';
import { errorOf } from '../support/error-of.ts';
import { listenOnLoopback } from '../support/loopback.ts';

/** Functions that always answer this; the pauses that a caller with this chance made, and how often it asked. */
const askOf = async (
  { status, name }: { status: number; name: string },
  random: number,
  [asked, request]: readonly [ClientFunction, object],
) => {
  let calls = 0;
  const server = createServer((_request, response) => {
    calls += 1;
    response.writeHead(status, { 'x-amzn-errortype': name, 'content-type': 'application/json' });
    response.end(JSON.stringify({ Message: name }));
  });
  const endpoint = `http://127.0.0.1:${await listenOnLoopback(server)}`;
  const opened = openNamed({
    AWS_ENDPOINT_URL_LAMBDA: endpoint,
    AWS_ACCESS_KEY_ID: 'x',
    AWS_SECRET_ACCESS_KEY: 'y',
  });
  if (opened === undefined) throw new Error('the endpoint was named');
  const pauses: number[] = [];
  const call = createCall({
    connection: async () => opened,
    reconnect: () => undefined,
    namePrefix: 'walkback',
    signal: undefined,
    sleep: async (ms) => void pauses.push(ms),
    random: () => random,
  });
  const error: unknown = await call(asked, request).catch((thrown: unknown) => thrown);
  opened.close();
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
  return { calls, pauses, error };
};

const BUSY = { status: 429, name: 'TooManyRequestsException' };
const ROLLBACK = ['rollback', { sessionId: 's', messageId: 'm', requestId: 'r' }] as const;

test.each([
  [1, [200, 400, 800, 1600, 3200]],
  [0.5, [100, 200, 400, 800, 1600]],
  [0, [0, 0, 0, 0, 0]],
])('a busy service is asked six times; with chance %d the pauses are %j', async (random, expected) => {
  const { calls, pauses, error } = await askOf(BUSY, random, ROLLBACK);
  expect(error).toMatchObject({ name: 'Throttled', retryable: true });
  expect(pauses).toEqual(expected);
  expect(calls).toBe(6);
});

test('what does not name itself is asked once, because a second time would be another one', async () => {
  for (const [name, request] of [
    ['start-session', { sandboxId: 'x', projectsRoot: '/p' }],
    ['rehydrate', { sessionId: 's' }],
  ] as const) {
    expect((await askOf(BUSY, 1, [name, request])).calls, name).toBe(1);
  }
  expect((await askOf(BUSY, 1, ['start-session', { sessionId: 's' }])).calls).toBe(6);
});

test('what will not mend by itself is asked once', async () => {
  const { calls, error } = await askOf({ status: 403, name: 'AccessDeniedException' }, 1, ROLLBACK);
  expect(error).toMatchObject({ retryable: false });
  expect(calls).toBe(1);
});

test.each([
  ['while it waits to ask again', 'pause'],
  ['while the embedded cloud starts', 'start'],
])('an abort %s is thrown as its reason', async (_name, when) => {
  const ending = new AbortController();
  const reason = new Error('enough');
  const begun = Promise.withResolvers<void>();
  const call = createCall({
    connection: async () => {
      if (when === 'start') {
        begun.resolve();
        return new Promise<never>(() => undefined);
      }
      throw new errors.CloudUnavailable('not there yet');
    },
    reconnect: () => undefined,
    namePrefix: 'walkback',
    signal: undefined,
    sleep: (_ms, signal) => {
      begun.resolve();
      return pause(1_000_000, signal);
    },
    random: () => 1,
  });
  const [name, request] = ROLLBACK;
  const asked = call(name, request, { signal: ending.signal });
  await begun.promise;
  ending.abort(reason);
  await expect(asked).rejects.toBe(reason);
});

test('a function that is not there is told by its name', async () => {
  const call = createCall({
    connection: () => Promise.reject(new Error('not asked')),
    reconnect: () => undefined,
    namePrefix: 'walkback',
    signal: undefined,
    sleep: async () => undefined,
    random: () => 1,
  });
  const name: string = 'no-such';
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a program without types may write
  await expect(call(name as ClientFunction, {})).rejects.toMatchObject(errorOf('InvalidInput', 'no-such'));
});
