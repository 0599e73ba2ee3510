/**
 * Captures, rollbacks, merges and arrivals on a disk that becomes full at some point of each. What says that it is done is whole, what
 * does not says that there was no room and changed nothing, and the next call, with room, goes through. A rollback is always put back.
 */
import { mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { files } from '../support/fingerprint.ts';
import type { Harness, Snapshot } from '../support/git-harness.ts';
import { applies, world } from '../support/git-repositories.ts';
import { NEEDS_MOUNT, noMount } from '../support/needs-root.ts';
import { runSync } from '../support/run-sync.ts';
import { chosenSeed, instants } from '../support/sampling.ts';
import { harnessOn, type SmallDisk, smallDisk } from '../support/small-disk.ts';

/** Of each of the four. At least so many steps are made, however long they take. */
const SECONDS = Number(process.env['SWEEP_SECONDS'] ?? 15);
const LEAST = 6;

const NAMES = ['app', 'lib'];
const MAKE = `git init -q -b main .; mkdir many src empty; (cd many; seq 1 60 | split -l 2 -a 3 -d - name-); echo one >a.txt; echo code >src/main.c
echo 'ignored/' >.gitignore; mkdir ignored; echo i >ignored/i; git add .; git commit -qm one; git branch side; head -c 60000 /dev/urandom >noise; chmod 600 noise; echo s >staged; git add staged`;
const CHANGE = `rm -rf many/*1? empty; echo two >a.txt; git commit -qam two; git checkout -qb topic; head -c 70000 /dev/urandom >noise; chmod 644 noise
mkdir -p new/deep; echo n >new/deep/n; git rm -q src/main.c; echo st >st; git add st; git branch -qD side`;
const COME = 'mkdir fresh; cd fresh; git init -q -b main .; echo f >f; git add f; git commit -qm f';

const NO_ROOM = /no room|[Nn]o space left|Out of diskspace|Free some/;
const seen = (harness: Harness) => world(harness, NAMES);
const ids = (snapshot: Snapshot) =>
  snapshot.repositories.map(({ path, state, tree, meta }) => ({ path, state, tree, meta }));

const place = { cwd: '/', env: { PATH: process.env['PATH'] ?? '' } };
const save = (harness: Harness, name: string) =>
  runSync('cp', ['-a', harness.root, `${harness.top}/${name}`], place);
const load = (harness: Harness, name: string) => {
  runSync('rm', ['-rf', harness.root], place);
  runSync('cp', ['-a', `${harness.top}/${name}`, harness.root], place);
};

/** Two states, the second with the disk as it is. */
const prepared = async (disk: SmallDisk) => {
  const harness = await harnessOn(disk);
  for (const name of NAMES) {
    mkdirSync(`${harness.root}/${name}`);
    harness.sh(MAKE, name);
  }
  const first = await harness.capture();
  const before = seen(harness);
  for (const name of NAMES) harness.sh(CHANGE, name);
  harness.sh(COME);
  return { harness, first, before, after: seen(harness) };
};

/** How it ended, and what was said: what it threw, if it did. */
const endOf = <T>(work: Promise<T>): Promise<{ done: T; said?: never } | { done?: never; said: string }> =>
  work.then(
    (done) => ({ done }),
    (error: Error) => {
      expect(error.name).toBe('SandboxUnavailable');
      return { said: error.message };
    },
  );

/** Steps over the room that is left, from none to ample, and counts how they ended. */
const sweep = async (
  what: string,
  most: { kib: number; files: number },
  step: (room: { kib?: number; files?: number }) => Promise<string>,
) => {
  const seed = chosenSeed();
  const until = Date.now() + SECONDS * 1000;
  const ends = new Map<string, number>();
  const shares = instants(1000, 101, seed);
  // Ample and none first, then wide steps, then those between them.
  const order = [1000, 0, ...shares.map((_, at) => shares[(at * 38) % shares.length] ?? 0)];
  let count = 0;
  for (const share of order) {
    if (count >= LEAST && Date.now() > until) break;
    count += 1;
    const kind = count % 3 === 0 ? 'files' : 'kib';
    const room = { [kind]: Math.round((most[kind] * share) / 1000) };
    const end = await step(room).catch((error: Error) => {
      error.message = `${what} with room for ${JSON.stringify(room)}, SEED=${seed}: ${error.message}`;
      throw error;
    });
    ends.set(end, (ends.get(end) ?? 0) + 1);
  }
  process.stdout.write(`git-small-disk: ${what}: ${JSON.stringify(Object.fromEntries(ends))} SEED=${seed}\n`);
  return ends;
};

const why = noMount();
if (why !== undefined) process.stdout.write(`git-small-disk: skipped: ${why}\n`);

test('captures', NEEDS_MOUNT, async () => {
  using disk = smallDisk();
  const { harness: made, first, after } = await prepared(disk);
  await using harness = made;
  save(harness, 'now');
  const second = await harness.capture();
  const ends = await sweep('capture', { kib: 1200, files: 450 }, async (room) => {
    disk.grow();
    load(harness, 'now');
    harness.standOn(first);
    disk.leave(room);
    const { done, said } = await endOf(harness.capture());
    disk.grow();
    expect(seen(harness)).toEqual(after);
    const told = said ?? done.report.failures.map(({ reason }) => reason).join('\n');
    if (told === '') expect(ids(done as Snapshot)).toEqual(ids(second));
    else expect(told).toMatch(NO_ROOM);
    harness.standOn(first);
    expect(ids(await harness.capture())).toEqual(ids(second));
    return told === '' ? 'whole' : 'told';
  });
  expect(ends.size).toBe(2);
});

test('rollbacks', NEEDS_MOUNT, async () => {
  using disk = smallDisk();
  const { harness: made, first, before, after } = await prepared(disk);
  await using harness = made;
  const from = await harness.capture(first);
  save(harness, 'now');
  const ends = await sweep('rollback', { kib: 2400, files: 1000 }, async (room) => {
    disk.grow();
    load(harness, 'now');
    harness.standOn(from);
    disk.leave(room);
    const { done, said } = await endOf(harness.rollback(first, { from }));
    disk.grow();
    const outcome = done?.report.outcome ?? 'thrown';
    expect(['applied', 'refused', 'reverted', 'thrown']).toContain(outcome);
    expect(seen(harness)).toEqual(outcome === 'applied' ? before : after);
    if (outcome === 'applied') return outcome;
    expect(said ?? done?.report.problems.map(({ message }) => message).join('\n')).toMatch(NO_ROOM);
    await applies(harness, first, { from });
    expect(seen(harness)).toEqual(before);
    return outcome;
  });
  expect([ends.has('applied'), ends.size > 1]).toEqual([true, true]);
});

test('merges', NEEDS_MOUNT, async () => {
  using disk = smallDisk();
  const { harness: made, first } = await prepared(disk);
  await using harness = made;
  const step = { base: first, theirs: await harness.capture(first) };
  await applies(harness, first);
  harness.sh('mkdir ours; echo o >ours/o; chmod 700 ours; echo more >>many/name-001', 'app');
  const now = await harness.capture();
  const looks = seen(harness);
  save(harness, 'now');
  const { merged } = await harness.compose([step]);
  await applies(harness, merged, { from: now });
  const result = seen(harness);
  const ends = await sweep('merge', { kib: 1200, files: 300 }, async (room) => {
    disk.grow();
    load(harness, 'now');
    harness.standOn(now);
    // When the bundles are there.
    harness.sandbox.beforeRun = () => disk.leave(room);
    const { done, said } = await endOf(harness.compose([step], { bring: true }));
    delete harness.sandbox.beforeRun;
    disk.grow();
    expect(seen(harness)).toEqual(looks);
    if (said !== undefined) expect(said).toMatch(NO_ROOM);
    harness.standOn(now);
    const whole = done ?? (await harness.compose([step]));
    expect(ids(whole.merged)).toEqual(ids(merged));
    harness.standOn(now);
    await applies(harness, whole.merged, { from: now });
    expect(seen(harness)).toEqual(result);
    return said === undefined ? 'whole' : 'told';
  });
  expect(ends.size).toBe(2);
});

test('arrivals in a fresh sandbox', NEEDS_MOUNT, async () => {
  using disk = smallDisk();
  const { harness: made, first, after } = await prepared(disk);
  await using harness = made;
  const target = await harness.capture(first);
  const ends = await sweep('arrival', { kib: 3000, files: 1000 }, async (room) => {
    disk.grow();
    await using fresh = await harnessOn(disk);
    // When the bundles are there.
    fresh.sandbox.beforeRun = () => disk.leave(room);
    const { done, said } = await endOf(fresh.rehydrate(target));
    delete fresh.sandbox.beforeRun;
    disk.grow();
    const outcome = done?.outcome ?? 'thrown';
    if (outcome === 'applied') {
      expect(seen(fresh)).toEqual(after.filter((line) => !line.includes('ignored')));
      return outcome;
    }
    expect(said ?? done?.problems.map(({ message }) => message).join('\n')).toMatch(NO_ROOM);
    if (outcome === 'refused' || outcome === 'reverted') expect(files(fresh.root)).toEqual([]);
    // As the function does, in another one.
    expect((await fresh.rehydrate(target)).outcome).toBe('applied');
    return outcome;
  });
  expect([...ends.keys()]).toContain('applied');
});
