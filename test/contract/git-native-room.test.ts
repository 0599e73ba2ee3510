/** The native restore keeps room for its way back, and gives it up where it needs it. */
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { besideRestores } from '../support/git-native-restore.ts';
import { applies, TWO_FILES, withTwoFiles, world } from '../support/git-repositories.ts';
import { NEEDS_MOUNT } from '../support/needs-root.ts';
import { replacedCommand } from '../support/placing.ts';
import { harnessOn, smallDisk } from '../support/small-disk.ts';

beforeEach(() => {
  besideRestores.native = { compared: 0, left: [], isAlone: true };
});
afterEach(() => {
  expect(besideRestores.native?.left).toEqual([]);
  delete besideRestores.native;
});

test.for([{ kib: 100 }, { files: 20 }])(
  'a restore that could not be put back for lack of room is refused before it writes: %s',
  NEEDS_MOUNT,
  async (room) => {
    using disk = smallDisk();
    await using harness = await harnessOn(disk);
    mkdirSync(`${harness.root}/app`);
    harness.sh(TWO_FILES, 'app');
    const first = await harness.capture();
    harness.sh('echo two > a.txt', 'app');
    const from = await harness.capture(first);
    disk.leave(room);
    const { report } = await harness.rollback(first, { from });
    expect(report.outcome).toBe('refused');
    expect(report.problems).toEqual([
      { path: 'app', kind: 'failed', message: `there is no room left in ${harness.root}/.agent-shadow` },
    ]);
    expect(existsSync(`${harness.root}/.agent-shadow/room-s1`)).toBe(false);
    disk.grow();
    await applies(harness, first);
  },
);

/** Files that change, come and go, a branch that comes and one that goes, and a repository that comes. */
const WORK = `cd app; head -c 30000 /dev/urandom >noise; echo two >a.txt; git checkout -qb topic; git commit -qam two; git rm -q src/main.c; mkdir new; echo n >new/n
cd ..; mkdir fresh; cd fresh; git init -q -b main .; echo f >f; git add f; git commit -qm f`;

test.for([
  ['bytes', 'head -c 100000000 /dev/zero >"$disk/filler" 2>/dev/null'],
  [
    'files',
    'mkdir "$disk/filler"; (for n in {1..1000000}; do : >"$disk/filler/$n" || exit; done) 2>/dev/null',
  ],
] as const)(
  'where the disk has no more %s in the middle of a restore, everything is put back in the room that was kept',
  NEEDS_MOUNT,
  async ([, fill]) => {
    using disk = smallDisk();
    // Before the first branch moves.
    using full = replacedCommand(
      'git',
      `[[ " $* " == *' update-ref '*-m* ]] || exec "$real" "$@"\nrm "$armed"\ndisk=${disk.path}\n${fill}\nexec "$real" "$@"\n`,
    );
    await using harness = await harnessOn(disk, { env: full.env });
    mkdirSync(`${harness.root}/app`);
    harness.sh(TWO_FILES, 'app');
    const first = await harness.capture();
    harness.sh(WORK);
    const from = await harness.capture(first);
    const looks = world(harness, ['app', 'fresh']);
    disk.leave({ kib: 4000, files: 2000 });
    full.arm();
    const { report } = await harness.rollback(first, { from });
    expect([report.outcome, full.isArmed()]).toEqual(['reverted', false]);
    expect(report.problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(/No space left on device|there is no room left/),
    ]);
    rmSync(`${disk.path}/filler`, { recursive: true });
    expect(world(harness, ['app', 'fresh'])).toEqual(looks);
    await applies(harness, first);
    expect(readdirSync(`${harness.root}/.agent-shadow/run-s1`)).toEqual([]);
  },
);

test('what a killed restore kept is given up by the next one', async () => {
  await using harness = await withTwoFiles(['app']);
  const first = await harness.capture();
  harness.sh('echo two > app/a.txt');
  const from = await harness.capture(first);
  const left = `${harness.root}/.agent-shadow/run-s1/killed`;
  mkdirSync(left, { recursive: true });
  writeFileSync(`${left}/room`, 'kept');
  const { report } = await harness.rollback(first, { from });
  expect([report.outcome, report.problems]).toEqual(['applied', []]);
  expect(readdirSync(left)).toEqual([]);
});
