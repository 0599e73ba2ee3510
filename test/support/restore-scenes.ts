/** What happens around a restore, whichever program does it: shells that stand somewhere, and disks without room. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { expect } from 'vitest';
import { applies, withRepositories, world } from './git-repositories.ts';
import { replacedCommand } from './placing.ts';
import { smallDisk, withTwoFilesOn } from './small-disk.ts';

/** A shell in a directory that both states have goes on, and one in a directory that goes is named. */
export const namesShells = async (): Promise<void> => {
  await using harness = await withRepositories(['app']);
  harness.sh('mkdir both; echo one > both/one', 'app');
  const first = await harness.capture();
  harness.sh('rm both/one; echo two > both/two; mkdir -p gone/deep; echo g > gone/deep/g', 'app');
  await harness.capture();
  const stand = (directory: string) =>
    spawn('/bin/sleep', ['600'], { cwd: `${harness.root}/app/${directory}`, stdio: 'ignore' });
  const shells = [stand('both'), stand('gone/deep')];
  try {
    const { report } = await harness.rollback(first);
    expect(report.outcome).toBe('applied');
    expect(realpathSync(`/proc/${shells[0]?.pid}/cwd`)).toBe(realpathSync(`${harness.root}/app/both`));
    expect(report.warnings).toEqual([
      expect.stringMatching(new RegExp(`process ${shells[1]?.pid} stands in .*/app/gone/deep`)),
    ]);
  } finally {
    for (const shell of shells) shell.kill('SIGKILL');
  }
};

/** Files that change, come and go, a branch that comes and one that goes, and a repository that comes. */
export const MUCH_WORK = `cd app; head -c 30000 /dev/urandom >noise; echo two >a.txt; git checkout -qb topic; git commit -qam two; git rm -q src/main.c; mkdir new; echo n >new/n
cd ..; mkdir fresh; cd fresh; git init -q -b main .; echo f >f; git add f; git commit -qm f`;

/** How a disk is filled, up to its last byte or its last file. */
export const FILLS = [
  ['bytes', 'head -c 100000000 /dev/zero >"$disk/filler" 2>/dev/null'],
  [
    'files',
    'mkdir "$disk/filler"; (for n in {1..1000000}; do : >"$disk/filler/$n" || exit; done) 2>/dev/null',
  ],
] as const;

/** The disk is filled in the middle of a restore: everything is put back in the room that was kept. */
export const returnsInKeptRoom = async (fill: string): Promise<void> => {
  using disk = smallDisk();
  // Before the first branch moves.
  using full = replacedCommand(
    'git',
    `[[ " $* " == *' update-ref '*-m* ]] || exec "$real" "$@"\nrm "$armed"\ndisk=${disk.path}\n${fill}\nexec "$real" "$@"\n`,
  );
  await using harness = await withTwoFilesOn(disk, { env: full.env });
  const first = await harness.capture();
  harness.sh(MUCH_WORK);
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
};

/** A restore that could not be put back for lack of room is refused before it writes. */
export const refusedWithoutRoom = async (room: { kib?: number; files?: number }): Promise<void> => {
  using disk = smallDisk();
  await using harness = await withTwoFilesOn(disk);
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
};
