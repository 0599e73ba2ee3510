/** The sandboxes of the embedded cloud at the moment at which the time of one is over. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { MARKER } from '../../local/e2b/process-kill.ts';
import { openRegistry } from '../../local/e2b/registry.ts';
import { printedSeed, sampled } from '../support/sampling.ts';

/** So many turns of the event loop between two calls: a quarter of them, others each time. */
const OFFSET = printedSeed('e2b-registry');
const turnsUpTo = (count: number): number[] =>
  sampled(
    Array.from({ length: count }, (_, turns) => turns),
    { every: 4, offset: OFFSET },
  );

/** `T` is stopped. */
const stateOf = async (pid: number): Promise<string | undefined> =>
  / ([A-Z]) /.exec(await readFile(`/proc/${pid}/stat`, 'utf8'))?.[1];

const MADE = { templateId: 'base', metadata: {}, envs: {}, onTimeout: 'kill' } as const;

/** A sandbox in a data directory of its own, and what starts a long command in it. */
const openSandbox = async (directory: string) => {
  const registry = await openRegistry(join(directory, 'data'));
  const sandbox = await registry.create({ ...MADE, mounts: [] });
  const environment = { PATH: process.env['PATH'] ?? '', [MARKER]: sandbox.id };
  const start = () =>
    sandbox.processes.start(
      { cmd: 'sleep', args: ['300'], envs: {} },
      { directory, environment, timeoutMs: undefined, keepaliveMs: 60_000 },
    );
  return { registry, sandbox, start };
};

test.each([
  ['connect', 'alone'],
  ['setTimeout', 'alone'],
  ['connect', 'with a directory of another'],
  ['setTimeout', 'with a directory of another'],
] as const)(
  'one that is given more time by %s while it is looked at who works on its files goes on, %s',
  async (how, mounted) => {
    await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-registry-'));
    const own = join(directory.path, 'own');
    await mkdir(own);
    const mounts = [{ path: '/work', directory: own }];
    for (const turns of sampled([1, 2, 4, 6, 8, 12], { every: 3, offset: OFFSET })) {
      const dataDir = join(directory.path, String(turns));
      const registry = await openRegistry(dataDir);
      // Where the directories of these really are is looked at first.
      for (let count = 0; count < 5; count += 1) await registry.create({ ...MADE, mounts });
      const made = { ...MADE, mounts: mounted === 'alone' ? [] : mounts, timeoutMs: 20 };
      const { id, record } = await registry.create(made);
      while (Date.now() <= (record.endAtMs ?? 0)) await delay(1);
      for (let count = 0; count < turns; count += 1) await turn();
      const answer = await registry[how](id, 60_000);
      await registry.mountedBy();
      await registry.mountedBy();
      await registry.close();
      expect(existsSync(join(dataDir, id)), `after ${turns} turns: ${answer}`).toBe(Boolean(answer));
    }
  },
);

test.each(['alone', 'with a directory of another'])(
  'one that is killed twice at once is killed once, %s',
  async (mounted) => {
    await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-registry-'));
    const own = join(directory.path, 'own');
    await mkdir(own);
    const registry = await openRegistry(join(directory.path, 'data'));
    const mounts = mounted === 'alone' ? [] : [{ path: '/work', directory: own }];
    const { id } = await registry.create({ ...MADE, mounts });
    const answers = await Promise.all([registry.kill(id), registry.kill(id), registry.kill(id)]);
    await registry.close();
    expect(answers.filter(Boolean)).toEqual([true]);
  },
);

test.each([true, false])(
  'one that is connected to while it is paused runs, with its memory kept: %s',
  async (keepMemory) => {
    await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-registry-'));
    const { registry, sandbox, start } = await openSandbox(directory.path);
    for (const turns of turnsUpTo(40)) {
      await start();
      const paused = registry.pause(sandbox.id, keepMemory);
      for (let count = 0; count < turns; count += 1) await turn();
      expect(await registry.connect(sandbox.id, 60_000), `after ${turns} turns`).toBe('resumed');
      await start();
      await paused;
      await delay(5);
      const states = await Promise.all(sandbox.processes.list().map(({ pid }) => stateOf(pid)));
      expect(states.length, `after ${turns} turns`).toBeGreaterThan(0);
      expect(states, `after ${turns} turns`).not.toContain('T');
    }
    await registry.close();
  },
);

test('a command runs that is started by the second of two calls that connect to one at once while it is paused', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-registry-'));
  const { registry, sandbox, start } = await openSandbox(directory.path);
  for (const turns of turnsUpTo(60)) {
    await start();
    const paused = registry.pause(sandbox.id, false);
    for (let count = 0; count < turns; count += 1) await turn();
    const first = registry.connect(sandbox.id, 60_000);
    expect(await registry.connect(sandbox.id, 60_000), `after ${turns} turns`).toBe('running');
    await start();
    await Promise.all([paused, first]);
    await delay(5);
    expect(sandbox.processes.list(), `after ${turns} turns`).toHaveLength(1);
  }
  await registry.close();
});
