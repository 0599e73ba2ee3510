/** A shadow that has grown is packed, every checkpoint still restores, and a death meanwhile loses nothing. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { commandPath } from '../support/command-path.ts';
import { files } from '../support/fingerprint.ts';
import { createHarness, type Harness, type Snapshot } from '../support/git-harness.ts';
import { NEEDS_MOUNT } from '../support/needs-root.ts';
import { sampledTest } from '../support/sampled-test.ts';
import { harnessOn, smallDisk } from '../support/small-disk.ts';

const test = sampledTest('git-packed', 3);
const LONG = { timeout: 300_000 };

/** Above git’s own threshold, gc.auto: 6700, in each of 256 directories. */
const MANY = 9000;
const SHADOW = 'app/.agent-shadow/session-s1';
const BEGIN =
  'git init -q -b main app; cd app; echo a > a; git add a; git commit -qm one; git init -q -b main ../web; echo w > ../web/w';

/** New files with new contents. */
const write = (harness: Harness, name: string, count = MANY): void => {
  mkdirSync(join(harness.root, 'app', name));
  for (let i = 0; i < count; i++)
    writeFileSync(join(harness.root, 'app', name, `${i}`), `${name} ${i}\n`.repeat(4));
};

/** What a shadow is like after hundreds of captures. Git itself puts the objects there. */
const GROWN = {
  'objects that lie alone': (harness: Harness, name: string) =>
    harness.sh(
      `made=$(mktemp -d); seq ${MANY} | sed s/^/${name}/ | split -l 1 -a 4 - $made/; find $made -type f | git --git-dir=${SHADOW} hash-object -w --stdin-paths >/dev/null; rm -r $made`,
    ),
  packs: (harness: Harness, name: string) =>
    harness.sh(
      `export GIT_DIR=$PWD/${SHADOW}; for n in $(seq 60); do echo ${name} $n | git hash-object -w --stdin | git pack-objects -q $GIT_DIR/objects/pack/pack; done; git prune-packed -q`,
    ),
};

const shadowFiles = (harness: Harness): number =>
  Number(harness.sh(`find ${SHADOW}/objects -type f | wc -l`));

interface Point {
  snapshot: Snapshot;
  looks: string[];
}

const point = async (harness: Harness): Promise<Point> => ({
  snapshot: await harness.capture(),
  looks: files(harness.root),
});

/** Goes to each of them, back from the last, with nothing but what the sandbox has. */
const expectAll = async (harness: Harness, points: readonly Point[], about: string): Promise<void> => {
  for (const { snapshot, looks } of [...points].toReversed()) {
    const { report } = await harness.rollback({ ...snapshot, chains: new Map() });
    expect([report.outcome, report.problems], about).toEqual(['applied', []]);
    expect(files(harness.root), about).toEqual(looks);
  }
};

const takesFewFiles = async (): Promise<void> => {
  await using harness = await createHarness();
  harness.sh(BEGIN);
  const points = [await point(harness)];
  for (const [name, count] of [
    ['some', 100],
    ['many', MANY],
  ] as const) {
    write(harness, name, count);
    points.push(await point(harness));
    expect(shadowFiles(harness), name).toBeLessThan(40);
  }
  harness.sh('cd app; rm -r some; sed -i s/many/changed/ many/1*; git add many/2; git commit -qm two');
  points.push(await point(harness));
  expect(harness.sh(`git --git-dir=${SHADOW} fsck --no-dangling 2>&1`)).not.toContain('error');
  await expectAll(harness, points, 'packed');
};
test('many new files take few files, and every checkpoint restores', takesFewFiles, LONG);

const grows = async (grown: keyof typeof GROWN): Promise<void> => {
  await using harness = await createHarness();
  harness.sh(BEGIN);
  const points = [await point(harness)];
  write(harness, 'some', 100);
  points.push(await point(harness));
  GROWN[grown](harness, 'more');
  expect(shadowFiles(harness)).toBeGreaterThan(100);
  harness.sh('echo b > app/b');
  points.push(await point(harness));
  expect(shadowFiles(harness)).toBeLessThan(60);
  await expectAll(harness, points, grown);
};
for (const grown of ['objects that lie alone', 'packs'] as const)
  test(`many ${grown} become few files, and every checkpoint restores`, () => grows(grown), LONG);

/** The program and git die when git is called with this word, before or after it did its work. */
const deadly = () => {
  const bin = mkdtempSync(join(tmpdir(), 'walkback-bin-'));
  const script = `#!/bin/bash
armed=''
[ ! -e ${bin}/armed ] || read -r word when < ${bin}/armed
[ -n "\${word-}" ] && [[ " $* " == *"$word"* ]] && armed=$when && rm -f ${bin}/armed
[ "$armed" = after ] && ${commandPath('git')} "$@"
[ -n "$armed" ] || exec ${commandPath('git')} "$@"
kill -9 $PPID
kill -9 $$
`;
  writeFileSync(`${bin}/git`, script, { mode: 0o755 });
  return {
    env: { PATH: `${bin}:${process.env['PATH']}` },
    arm: (at: string) => writeFileSync(`${bin}/armed`, `${at}\n`),
    [Symbol.dispose]: () => rmSync(bin, { recursive: true }),
  };
};

const DEATHS = ['bigFileThreshold before', 'bigFileThreshold after', 'verify-pack after'];

const diesAt = async (at: string, grown: keyof typeof GROWN): Promise<void> => {
  using deaths = deadly();
  await using harness = await createHarness({ env: deaths.env });
  harness.sh(BEGIN);
  const points = [await point(harness)];
  write(harness, 'some', 100);
  points.push(await point(harness));
  GROWN[grown](harness, 'killed');
  harness.sh('echo b > app/b');
  deaths.arm(at);
  await expect(harness.capture()).rejects.toMatchObject({ name: 'SandboxUnavailable' });
  points.push(await point(harness));
  await expectAll(harness, points, 'after the kill');
  // After a try that failed, it waits until there are many more.
  for (const name of ['more', 'most']) GROWN[grown](harness, name);
  harness.sh('echo c > app/c');
  points.push(await point(harness));
  // One call packs 20,000.
  expect(shadowFiles(harness)).toBeLessThan(MANY);
  await expectAll(harness, points, 'packed');
};
for (const grown of ['objects that lie alone', 'packs'] as const)
  for (const at of DEATHS)
    test(`${grown}: killed at ${at}, nothing is lost, and a later call packs`, () => diesAt(at, grown), LONG);

const waitsForRoom = async (): Promise<void> => {
  using disk = smallDisk();
  await using harness = await harnessOn(disk);
  harness.sh(BEGIN);
  const points = [await point(harness)];
  GROWN['objects that lie alone'](harness, 'small');
  harness.sh('echo b > app/b');
  disk.leave({ kib: (MANY * 4 * 3) / 2 });
  points.push(await point(harness));
  expect(shadowFiles(harness)).toBeGreaterThan(MANY);
  disk.grow();
  await expectAll(harness, points, 'not packed');
  GROWN['objects that lie alone'](harness, 'again');
  harness.sh('echo c > app/c');
  points.push(await point(harness));
  expect(shadowFiles(harness)).toBeLessThan(60);
  await expectAll(harness, points, 'packed');
};
test('a disk without room for a pack loses nothing, and it is packed when there is room', waitsForRoom, {
  ...NEEDS_MOUNT,
  ...LONG,
});
