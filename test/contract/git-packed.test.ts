/** A shadow that has grown is packed: fewer files and bytes, and every checkpoint still restores, whatever happens meanwhile. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandPath } from '../support/command-path.ts';
import { files } from '../support/fingerprint.ts';
import { createHarness, type Harness, type Snapshot } from '../support/git-harness.ts';
import { NEEDS_MOUNT } from '../support/needs-root.ts';
import { WHOLE } from '../support/sampling.ts';
import { harnessOn, smallDisk } from '../support/small-disk.ts';

/** Above git's own threshold, gc.auto: 6700. */
const MANY = 7400;
const BEGIN =
  'git init -q -b main app; cd app; echo a > a; git add a; git commit -qm one; git init -q -b main ../web; echo w > ../web/w';

/** New files with new contents. */
const write = (harness: Harness, name: string, count = MANY): void => {
  mkdirSync(join(harness.root, 'app', name));
  for (let i = 0; i < count; i++)
    writeFileSync(join(harness.root, 'app', name, `${i}`), `${name} ${i}\n`.repeat(4));
};

const shadowFiles = (harness: Harness): number =>
  Number(harness.sh('find app/.agent-shadow/session-s1/objects -type f | wc -l'));
const shadowKib = (harness: Harness): number =>
  Number(harness.sh('du -sk app/.agent-shadow/session-s1/objects | cut -f1'));

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

test('what was captured with many new files takes few files and little room, and every checkpoint restores', async () => {
  await using harness = await createHarness();
  harness.sh(BEGIN);
  const points = [await point(harness)];
  write(harness, 'few', 3000);
  points.push(await point(harness));
  expect(shadowFiles(harness), 'below the threshold nothing is packed').toBeGreaterThan(3000);
  write(harness, 'many');
  points.push(await point(harness));
  expect(shadowFiles(harness)).toBeLessThan(50);
  // Each file took a block of the disk.
  expect(shadowKib(harness)).toBeLessThan(((3000 + MANY) * 4) / 5);
  harness.sh('cd app; rm -r few; sed -i s/many/changed/ many/1*; git add many/2; git commit -qm two');
  points.push(await point(harness));
  await expectAll(harness, points, 'packed');
  // What is captured again is there already.
  expect(shadowFiles(harness)).toBeLessThan(2000);
});

/** Kills the process group of the command at the first call of a program with these words, before or after it did its work. */
const deadly = () => {
  const bin = mkdtempSync(join(tmpdir(), 'walkback-bin-'));
  for (const name of ['git', 'sync', 'xargs']) {
    const script = `#!/bin/bash
armed=''
[ ! -e ${bin}/armed ] || read -r program word when < ${bin}/armed
[ "\${program-}" = ${name} ] && [[ " $* " == *"$word "* ]] && armed=$when && rm -f ${bin}/armed
[ "$armed" != before ] || kill -9 0
[ -n "$armed" ] || exec ${commandPath(name)} "$@"
${commandPath(name)} "$@"
kill -9 0
`;
    writeFileSync(`${bin}/${name}`, script, { mode: 0o755 });
  }
  return {
    env: { PATH: `${bin}:${process.env['PATH']}` },
    arm: (at: string) => writeFileSync(`${bin}/armed`, `${at}\n`),
    [Symbol.dispose]: () => rmSync(bin, { recursive: true }),
  };
};

const DEATHS = [
  'git pack-objects before',
  'git pack-objects after',
  'git verify-pack after',
  'sync /objects/pack before',
  'xargs rm before',
  'xargs rm after',
];

test.for(WHOLE ? DEATHS : ['git pack-objects after', 'xargs rm before'])(
  'killed at %s, nothing is lost, and a later call packs',
  { timeout: 300_000 },
  async (at) => {
    using deaths = deadly();
    await using harness = await createHarness({ env: deaths.env });
    harness.sh(BEGIN);
    const points = [await point(harness)];
    write(harness, 'killed');
    deaths.arm(at);
    await expect(harness.capture()).rejects.toMatchObject({ name: 'SandboxUnavailable' });
    points.push(await point(harness));
    await expectAll(harness, points, 'after the kill');
    await harness.rollback(points.at(-1)?.snapshot ?? (await harness.capture()));
    write(harness, 'more', 2 * MANY);
    points.push(await point(harness));
    expect(shadowFiles(harness)).toBeLessThan(2 * MANY);
    await expectAll(harness, points, 'packed');
  },
);

test(
  'a disk without room for a pack loses nothing, and it is packed when there is room',
  NEEDS_MOUNT,
  async () => {
    using disk = smallDisk();
    await using harness = await harnessOn(disk);
    harness.sh(BEGIN);
    const points = [await point(harness)];
    write(harness, 'small');
    disk.leave({ kib: (MANY * 4 * 3) / 2 });
    points.push(await point(harness));
    expect(shadowFiles(harness)).toBeGreaterThan(MANY);
    disk.grow();
    await expectAll(harness, points, 'not packed');
    await harness.rollback(points.at(-1)?.snapshot ?? (await harness.capture()));
    write(harness, 'again');
    points.push(await point(harness));
    expect(shadowFiles(harness)).toBeLessThan(50);
    await expectAll(harness, points, 'packed');
  },
);
