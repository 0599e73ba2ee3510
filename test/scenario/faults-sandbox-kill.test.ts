/** Every process of the sandbox dies at some instant of a capture or a restore: out of memory, or the agent's own kill. */
import { realpathSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { startTestCloud } from '../support/cloud.ts';
import { killed, processesIn } from '../support/processes.ts';
import { inTurn } from '../support/sampled-test.ts';
import { instants, printedSeed, sampled, WHOLE } from '../support/sampling.ts';
import { edit, openWorld, rootOf, type World } from '../support/world.ts';

const test = inTurn('faults-sandbox-kill');

const KILLS = Number(process.env['KILLS'] ?? (WHOLE ? 6 : 1));
const SEED = printedSeed('sandbox kill');
const START = { path: '/process.Process/Start' };

/** Kills what runs inside one sandbox of this test, by pid, or one process of it. Answers how many. */
const killInside = (world: World, which: 'all' | 'one'): number => {
  const inside = realpathSync(rootOf(world.cloud, world.sandboxId, '/'));
  const ours = processesIn(inside);
  const one = Math.floor(Math.random() * ours.length);
  return killed(which === 'all' ? ours : ours.slice(one, one + 1));
};

const killsAndFinishes = async (which: 'all' | 'one'): Promise<void> => {
  await using cloud = await startTestCloud();
  const world = await openWorld(cloud, { paths: ['api', 'web'] });
  edit(world.root, 1, world.paths);
  const target = await world.checkpoint('target');
  edit(world.root, 2, world.paths);
  const e2b = await cloud.interpose('e2b');

  /** Runs a rollback and kills what runs in the sandbox some time after its `command`th command began. */
  const broken = async (requestId: string, command: number, afterMs: number): Promise<number> => {
    const before = e2b.count(START);
    const ended = new AbortController();
    const rollback = world
      .rollback(requestId, target.checkpointId)
      .catch(() => undefined)
      .finally(() => ended.abort());
    await e2b.reached(before + command, START);
    await delay(afterMs);
    let killed = killInside(world, which);
    // Its processes may not have begun yet.
    while (killed === 0 && !ended.signal.aborted) {
      await delay(1);
      killed = killInside(world, which);
    }
    await rollback;
    return killed;
  };

  // How long each of the two commands takes, with what the function does after it.
  const before = e2b.count(START);
  const clean = world.rollback('clean', target.checkpointId);
  const reachedMs: number[] = [];
  for (const command of [1, 2]) {
    await e2b.reached(before + command, START);
    reachedMs.push(performance.now());
  }
  await clean;
  reachedMs.push(performance.now());
  const commandMs = (command: number): number => (reachedMs[command] ?? 0) - (reachedMs[command - 1] ?? 0);
  const parts = instants(1, KILLS, SEED);
  for (let index = 0; index < 2 * KILLS; index++) {
    const part = parts[index >> 1] ?? 0;
    // The restore more often than the capture: only it writes.
    const command = index % 4 === 3 ? 1 : 2;
    let afterMs = part * commandMs(command);
    let looks: string[] = [];
    let requestId = '';
    let killed = 0;
    // It is faster than the first one, or that was slow: one that was missed is tried again, sooner.
    for (let attempt = 0; killed === 0 && attempt < 10; attempt++, afterMs /= 2) {
      edit(world.root, index + 3, world.paths);
      looks = world.fingerprint();
      requestId = `r${index}-${attempt}`;
      killed = await broken(requestId, command, afterMs);
    }
    const name = `command ${command} after ${Math.round(2 * afterMs)} ms`;
    expect(killed, name).toBeGreaterThan(0);
    const answer = await world.rollback(requestId, target.checkpointId);
    expect(answer, name).toMatchObject({ status: 'APPLIED' });
    expect(world.fingerprint(), name).toEqual(target.looks);
    await world.rollback(`u${index}`, String(answer['undoCheckpointId']));
    expect(world.fingerprint(), `undo, ${name}`).toEqual(looks);
  }
  expect((await world.timeline()).session.busy).toBe(null);
};

/** One of them, the other one at another time; both in a whole run. */
const WHICH = sampled(['all', 'one'] as const, { every: 2, offset: SEED });

test.each(WHICH)(
  'a rollback of whose processes %s is killed is finished by the same call, and can be undone',
  (which) => killsAndFinishes(which),
);
