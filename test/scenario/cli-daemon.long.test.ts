/** A daemon through its whole life: a dozen commands, each a process of its own. */
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { findRunningCloud } from '../../local/data-dir.ts';
import { openCliScene } from '../support/cli.ts';
import { createWork } from '../support/cli-work.ts';

const upSchema = z.object({ pid: z.number(), isNew: z.boolean() });

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

const gone = async (pid: number): Promise<void> => {
  while (isAlive(pid)) await delay(20);
};

test('a command starts it, every other uses it, kill -9 loses nothing, and down ends it', async () => {
  await using scene = await openCliScene({ WALKBACK_DAEMON: 'on', WALKBACK_IDLE_MINUTES: '0' });
  const { work, dataDir, json } = scene;
  await createWork(work);
  const started = await json(['session', 'start', '--root', work]);
  const first = await findRunningCloud(dataDir);
  if (first === undefined) throw new Error('no daemon');
  expect((await stat(join(dataDir, 'cloud.json'))).mode & 0o777).toBe(0o600);
  expect((await stat(join(dataDir, 'daemon.log'))).mode & 0o777).toBe(0o600);
  await writeFile(join(work, 'api/a.txt'), 'two\n');
  await json(['checkpoint', '--message', 'msg-1']);
  expect((await json(['env']))['AWS_ENDPOINT_URL_LAMBDA']).toBe(first.endpoints['lambda']);

  process.kill(first.pid, 'SIGKILL');
  await gone(first.pid);
  // What it wrote is still there, and says a process that is not.
  expect((await stat(join(dataDir, 'cloud.json'))).isFile()).toBe(true);
  const both = await Promise.all([json(['up', '--detach']), json(['up', '--detach'])]);
  const [one, other] = both.map((said) => upSchema.parse(said));
  expect(one?.pid).toBe(other?.pid);
  expect([one?.isNew, other?.isNew].filter(Boolean)).toHaveLength(1);
  expect((await json(['session', 'list']))['sessions']).toMatchObject([{ sessionId: started['sessionId'] }]);
  expect(await json(['checkpoint', '--message', 'msg-2'])).toMatchObject({ seq: 3 });

  expect(await json(['down'])).toMatchObject({ pid: one?.pid });
  // Nobody may have buried it yet.
  expect(await findRunningCloud(dataDir)).toBeUndefined();
  expect(await json(['down'])).toMatchObject({ pid: null });
}, 1_200_000);
