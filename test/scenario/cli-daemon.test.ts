/** The daemon behind the command; in `npm run test:long` also its whole life, a dozen commands, each a process of its own, and kills of it at random instants. */
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { Walkback } from '../../client/index.ts';
import { findRunningCloud } from '../../local/data-dir.ts';
import { openCliScene } from '../support/cli.ts';
import { createWork } from '../support/cli-work.ts';
import { errorOf } from '../support/error-of.ts';
import { longTest } from '../support/sampled-test.ts';
import { printedSeed } from '../support/sampling.ts';

test('it ends by itself when nobody uses it', async () => {
  await using scene = await openCliScene();
  const { ended } = await scene.start(['up', '--json', '--idle', '0.001']);
  expect(await ended).toBe(0);
  expect(await findRunningCloud(scene.dataDir)).toBeUndefined();
});

/** In a checkout whose code is not in Node's cache of compiled code, which a first start may be. */
const MOST_RESIDENT_KB = 160_000;

test('one that nobody has used yet has loaded little', async () => {
  await using scene = await openCliScene({ WALKBACK_DAEMON: 'on' });
  const { pid } = await scene.json(['up', '--detach']);
  const status = await readFile(`/proc/${String(pid)}/status`, 'utf8');
  await scene.run(['down']);
  expect(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1])).toBeLessThan(MOST_RESIDENT_KB);
});

test('what it cannot start with is told by its name', async () => {
  await using scene = await openCliScene({ WALKBACK_DAEMON: 'on' });
  const { code, stderr } = await scene.run([
    'up',
    '--detach',
    '--json',
    '--functions',
    join(scene.work, 'none'),
  ]);
  expect(code).toBe(7);
  expect(JSON.parse(stderr)).toMatchObject({ error: { name: 'ConfigurationError' } });
});

test('a client that may not start one says what to do', async () => {
  await using scene = await openCliScene();
  const walkback = new Walkback({ dataDir: scene.dataDir, start: false });
  await expect(walkback.sessions.list()).rejects.toMatchObject(errorOf('CloudUnavailable', 'walkback up'));
});

test('the doctor finds nothing wrong here, starts nothing, and names what is missing', async () => {
  await using scene = await openCliScene();
  const { ok, checks } = await scene.json(['doctor']);
  expect(ok).toBe(true);
  expect(checks).toHaveLength(11);
  expect(await findRunningCloud(scene.dataDir)).toBeUndefined();
  await mkdir(scene.dataDir, { recursive: true, mode: 0o700 });
  await writeFile(`${scene.dataDir}/dead-letters.jsonl`, '{}\n{}\n');
  const left = await scene.run(['doctor']);
  expect(left.code).toBe(7);
  expect(left.stdout).toContain(`2 in ${scene.dataDir}/dead-letters.jsonl`);
  await using poor = await openCliScene({ PATH: scene.work });
  const { code, stdout, stderr } = await poor.run(['doctor', '--json']);
  expect(code).toBe(7);
  const told: { checks: { id: string; ok: boolean; advice: string }[] } = JSON.parse(stdout);
  expect(told.checks.filter((one) => !one.ok).map(({ id }) => id)).toEqual(['git', 'bash', 'curl']);
  for (const { ok: isOk, advice } of told.checks) expect(advice === '').toBe(isOk);
  expect(JSON.parse(stderr)).toMatchObject({ error: { name: 'ConfigurationError', exitCode: 7 } });
});

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

longTest(
  'a command starts it, every other uses it, kill -9 loses nothing, and down ends it',
  { timeout: 1_200_000 },
  async () => {
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
    expect((await json(['session', 'list']))['sessions']).toMatchObject([
      { sessionId: started['sessionId'] },
    ]);
    expect(await json(['checkpoint', '--message', 'msg-2'])).toMatchObject({ seq: 3 });

    expect(await json(['down'])).toMatchObject({ pid: one?.pid });
    // Nobody may have buried it yet.
    expect(await findRunningCloud(dataDir)).toBeUndefined();
    expect(await json(['down'])).toMatchObject({ pid: null });
  },
);

const ROUNDS = 6;
/** A checkpoint of this size takes a few hundred milliseconds; so some kills come before it, some after. */
const LATEST_KILL_MS = 800;

/** The client starts another one, and nothing is lost or done twice. */
longTest(
  'kill -9 of the daemon at any instant of a checkpoint loses nothing that was answered',
  { timeout: 1_200_000 },
  async () => {
    await using scene = await openCliScene({ WALKBACK_DAEMON: 'on', WALKBACK_IDLE_MINUTES: '5' });
    const { work, dataDir, json } = scene;
    await createWork(work);
    const seed = printedSeed('daemon-kill');
    const delays = fc.sample(fc.nat({ max: LATEST_KILL_MS }), { numRuns: ROUNDS, seed });
    // No cloud runs: the client starts it.
    const walkback = new Walkback({ dataDir });
    try {
      const session = await walkback.sessions.start({ root: work });
      let killed = 0;
      const kill = async (ms: number): Promise<void> => {
        await delay(ms);
        const daemon = await findRunningCloud(dataDir);
        if (daemon === undefined) return;
        process.kill(daemon.pid, 'SIGKILL');
        killed += 1;
      };
      const answered = new Map<string, string>();
      for (const [round, ms] of delays.entries()) {
        const id = `call-${round}`;
        await writeFile(join(work, 'api/a.txt'), `round ${round}\n`);
        const killing = kill(ms);
        const { checkpointId } = await session.checkpoint({ messageId: `msg-${round}`, id });
        await killing;
        answered.set(id, checkpointId);
      }
      expect(killed).toBeGreaterThanOrEqual(ROUNDS / 2);
      const { checkpoints } = await session.timeline();
      const stored = checkpoints.filter(({ toolExecutionId }) => toolExecutionId.startsWith('call-'));
      expect(new Map(stored.map((one) => [one.toolExecutionId, one.checkpointId]))).toEqual(answered);
      expect(stored).toHaveLength(ROUNDS);
      await session.rollback({ to: 'msg-0' });
      expect(await readFile(join(work, 'api/a.txt'), 'utf8')).toBe('round 0\n');
    } finally {
      await walkback.close();
      await json(['down']);
    }
  },
);
