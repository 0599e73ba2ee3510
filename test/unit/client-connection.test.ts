/** The connection that a client keeps: calls that fail together neither lose it again nor fail with each other. */
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { type Connection, openNamed } from '../../client/connect.ts';
import { errors } from '../../client/errors.ts';
import { createCall } from '../../client/invoke.ts';
import { keepConnection } from '../../client/keep-connection.ts';
import { startDaemon } from '../../client/start-daemon.ts';
import { listenOnLoopback } from '../support/loopback.ts';

/** Nobody listens there. */
const opened = (): Connection => {
  const connection = openNamed({ AWS_ENDPOINT_URL_LAMBDA: 'http://127.0.0.1:1' });
  if (connection === undefined) throw new Error('the endpoint was named');
  return connection;
};

/** What each opening comes to is told by the test. */
const openings = () => {
  const made: PromiseWithResolvers<Connection>[] = [];
  const open = (): Promise<Connection> => {
    const one = Promise.withResolvers<Connection>();
    made.push(one);
    return one.promise;
  };
  return { made, kept: keepConnection(open) };
};

test('the second of two calls that failed on one connection keeps what the first one opened since', async () => {
  const { made, kept } = openings();
  const first = kept.connection();
  made[0]?.resolve(opened());
  const old = await first;
  kept.reconnect(old);
  const second = kept.connection();
  kept.reconnect(old);
  made[1]?.resolve(opened());
  const fresh = await second;
  kept.reconnect(old);
  expect(await kept.connection()).toBe(fresh);
  expect(made).toHaveLength(2);
});

test('an opening that fails is made anew, and its late end leaves the next one', async () => {
  const { made, kept } = openings();
  const first = kept.connection();
  const closed = kept.close();
  const second = kept.connection();
  made[0]?.reject(new errors.CloudUnavailable('gone'));
  await expect(first).rejects.toThrow('gone');
  await expect(closed).resolves.toBeUndefined();
  made[1]?.resolve(opened());
  expect(await kept.connection()).toBe(await second);
  expect(made).toHaveLength(2);
});

test('a call goes on trying while another one fails to open the connection', async () => {
  const dead = opened();
  let opens = 0;
  const kept = keepConnection(async () => {
    opens += 1;
    if (opens % 2 === 1) return dead;
    throw new errors.CloudUnavailable('not there yet');
  });
  const pauses: number[] = [];
  const call = createCall({
    ...kept,
    namePrefix: 'walkback',
    signal: undefined,
    sleep: async (ms) => void pauses.push(ms),
    random: () => 1,
  });
  const asked = [1, 2, 3, 4].map(() => call('timeline', { sessionId: 's' }));
  for (const one of await Promise.allSettled(asked)) {
    expect(one).toMatchObject({ status: 'rejected', reason: { name: 'CloudUnavailable' } });
  }
  expect(pauses).toHaveLength(4 * 5);
});

test('an answer that is cut in its middle is a lost one, and told in one line', async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('{"half":', () => response.destroy());
  });
  const port = await listenOnLoopback(server);
  const connection = openNamed({ AWS_ENDPOINT_URL_LAMBDA: `http://127.0.0.1:${port}` });
  const call = createCall({
    connection: async () => connection ?? opened(),
    reconnect: () => undefined,
    namePrefix: 'walkback',
    signal: undefined,
    sleep: async () => undefined,
    random: () => 0,
    attempts: 2,
  });
  try {
    await expect(call('timeline', { sessionId: 's' })).rejects.toMatchObject({
      name: 'CloudUnavailable',
      message: 'walkback-timeline cannot be reached: aborted',
      retryable: true,
    });
  } finally {
    connection?.close();
    server.close();
  }
});

test('a command that is not installed is told at once: another try does not install it', async () => {
  const place = { env: {}, cwd: '/', none: 'No embedded cloud runs over /data' };
  const starting = startDaemon('/data', place, () => undefined);
  await expect(starting).rejects.toMatchObject({
    name: 'CloudUnavailable',
    retryable: false,
    message: expect.stringContaining('npm i -D @walkback/cli'),
  });
});
