/** Where nothing more can be written, git says so in several ways. Then the shadow is not at fault, and it stays. */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { createHarness, type HarnessOptions } from '../support/git-harness.ts';
import { applies, rebuilds, TWO_FILES, withTwoFiles, world } from '../support/git-repositories.ts';
import { asNobody, NEEDS_MOUNT, NEEDS_ROOT } from '../support/needs-root.ts';
import { replacedCommand } from '../support/placing.ts';
import { FILLS, MUCH_WORK, refusedWithoutRoom, returnsInKeptRoom } from '../support/restore-scenes.ts';
import { inTurn } from '../support/sampled-test.ts';
import { type SmallDisk, smallDisk, withTwoFilesOn } from '../support/small-disk.ts';

const test = inTurn('git-no-room');

test.for([0, 4, 8, 16, 32, 64].map((kib) => ({ kib })))(
  'where a capture runs out of room after %o, it says so or is whole, and so is the next one',
  NEEDS_MOUNT,
  async (room) => {
    using disk = smallDisk();
    await using harness = await withTwoFilesOn(disk);
    const first = await harness.capture();
    harness.sh(
      'mkdir new; for n in 1 2 3 4 5 6; do head -c 5000 /dev/urandom >new/$n; done; git checkout -qb topic; git add .; git commit -qm two; echo ours >.agent-shadow/session-s1/mark',
      'app',
    );
    const looks = world(harness, ['app']);
    disk.leave(room);
    const said = await harness.capture(first).then(
      ({ report }) => report.failures.map(({ reason }) => reason),
      (error: Error) => [error.message],
    );
    for (const reason of said) expect(reason).toMatch(/No space left|Cannot write|no space|disk space/);
    expect(existsSync(`${harness.root}/app/.agent-shadow/session-s1/mark`)).toBe(true);
    if (room.kib === 0) expect(said).toHaveLength(1);
    disk.grow();
    harness.standOn(first);
    const { undo } = await applies(harness, first);
    expect(undo.report.failures).toEqual([]);
    await applies(harness, undo);
    expect(world(harness, ['app'])).toEqual(looks);
  },
);

test('the first capture of a repository says why where its shadow cannot be made', NEEDS_MOUNT, async () => {
  using disk = smallDisk();
  await using harness = await withTwoFilesOn(disk);
  harness.sh('mkdir .agent-shadow; : >.agent-shadow/lock; printf "*\\n" >.agent-shadow/.gitignore');
  disk.leave({ files: 1 });
  const said = await harness.capture().then(
    ({ report }) => report.failures.map(({ reason }) => reason),
    (error: Error) => [error.message],
  );
  expect(said).toEqual([expect.stringMatching(/No space left on device|Free some disk space/)]);
  disk.grow();
  expect((await harness.capture()).report.failures).toEqual([]);
});

/** /tmp has room for the program and for little else. What lies below it and is in use, the first argument, stays where it is. */
const LITTLE_ROOM_IN_TMP = `cd "$0" && mount -t tmpfs -o size=100k tmpfs /tmp && mkdir -p "$0" && mount --bind /proc/self/cwd "$0" && cd "$1" && shift && exec "$@"`;

test(
  'where /tmp has little room, the commits of many branches are captured, and rolled back',
  NEEDS_MOUNT,
  async () => {
    const prefix: string[] = [];
    await using harness = await withTwoFiles(['app'], { prefix });
    // Longer than a pipe holds: whoever went by way of a file would need room for it.
    harness.sh(
      'side=$(git commit-tree -p HEAD -m side HEAD^{tree}); for n in {1..700}; do printf "create refs/heads/%0120d $side\\n" "$n"; done | git update-ref --stdin; git pack-refs --all',
      'app',
    );
    const looks = world(harness, ['app']);
    prefix.push('unshare', '-m', 'sh', '-c', LITTLE_ROOM_IN_TMP, harness.top, harness.root);
    const first = await harness.capture();
    expect(first.report.failures).toEqual([]);
    harness.sh('git update-ref refs/heads/another HEAD', 'app');
    await applies(harness, first);
    expect(world(harness, ['app'])).toEqual(looks);
    prefix.length = 0;
    await rebuilds(harness, first);
    expect(world(harness, ['app'])).toEqual(looks);
  },
);

test('a rollback whose new files have no room says so', NEEDS_MOUNT, async () => {
  await using harness = await createHarness();
  harness.sh('mkdir app; mount -t tmpfs -o size=5m tmpfs app');
  try {
    harness.sh(`${TWO_FILES}; head -c 1500000 /dev/urandom > big; echo filler > .git/info/exclude`, 'app');
    const first = await harness.capture();
    harness.sh(
      'rm big; echo two > a.txt; head -c $(($(stat -f -c "%a * %S" .) - 500000)) /dev/zero > filler',
      'app',
    );
    const looks = world(harness, ['app']);
    const { report } = await harness.rollback(first);
    // What writes the new files beside their places refuses before it writes over anything.
    expect(['refused', 'reverted']).toContain(report.outcome);
    expect(report.problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(/No space left on device/),
    ]);
    expect(world(harness, ['app'])).toEqual(looks);
    harness.sh('rm filler', 'app');
    await applies(harness, first);
  } finally {
    harness.sh('umount app');
  }
});

test('what was put aside takes its place again when everything is put back, and is not written anew', async () => {
  await using harness = await withTwoFiles(['app']);
  const first = await harness.capture();
  harness.sh(MUCH_WORK);
  const [looks, inode] = [world(harness, ['app', 'fresh']), statSync(`${harness.root}/app/noise`).ino];
  // A directory in the place of git's lock.
  harness.sh('mkdir -p app/.git/refs/heads/topic.lock/in');
  const { report } = await harness.rollback(first);
  rmSync(`${harness.root}/app/.git/refs/heads/topic.lock`, { recursive: true });
  expect([report.outcome, report.problems.length]).toEqual(['reverted', 1]);
  expect(world(harness, ['app', 'fresh'])).toEqual(looks);
  expect(statSync(`${harness.root}/app/noise`).ino).toBe(inode);
  expect(existsSync(`${harness.root}/.agent-shadow/aside-s1`)).toBe(false);
  await applies(harness, first);
});

/** Dies at its first git after a branch that did not move. */
const killedOnTheWayBack = () =>
  replacedCommand(
    'git',
    `[ ! -e "$armed.way" ] || { rm "$armed"; kill -9 $PPID; exit 1; }\n"$real" "$@"\nstatus=$?\n[[ $status == 0 || " $* " != *' update-ref '* ]] || : >"$armed.way"\nexit $status\n`,
  );

test('a file that has another name keeps its mode there, also when the way back is killed', async () => {
  using killed = killedOnTheWayBack();
  await using harness = await withTwoFiles(['app'], { env: killed.env });
  const first = await harness.capture();
  harness.sh(`${MUCH_WORK}; cd ../app; chmod 600 noise; ln noise ../other-name`);
  const looks = world(harness, ['app', 'fresh']);
  const from = await harness.capture(first);
  harness.sh('mkdir -p app/.git/refs/heads/topic.lock/in');
  killed.arm();
  await expect(harness.rollback(first, { from })).rejects.toMatchObject({ name: 'SandboxUnavailable' });
  expect(killed.isArmed()).toBe(false);
  rmSync(`${harness.root}/app/.git/refs/heads/topic.lock`, { recursive: true });
  harness.standOn(from);
  await applies(harness, from);
  expect(world(harness, ['app', 'fresh'])).toEqual(looks);
});

test.for(FILLS)(
  'where the disk has no more %s in the middle of a rollback, everything is put back in the room that was kept',
  NEEDS_MOUNT,
  ([, fill]) => returnsInKeptRoom(fill),
);

test.for([{ kib: 100 }, { files: 20 }])(
  'a rollback that could not be put back for lack of room is refused before it writes: %s',
  NEEDS_MOUNT,
  refusedWithoutRoom,
);

/** Two states, and a mixture of them as a rollback leaves it that broke off. */
const halfWay = async (disk: SmallDisk, options?: HarnessOptions) => {
  const harness = await withTwoFilesOn(disk, options);
  const target = await harness.capture();
  harness.sh(
    'for n in a.txt b.txt src/main.c; do seq 9000 >$n; done; git checkout -qb topic; git add .; git commit -qm two',
    'app',
  );
  const undo = await harness.capture();
  const atUndo = world(harness, ['app']);
  // The program is there before the disk is full.
  expect((await harness.settle(undo, undo)).report.outcome).toBe('applied');
  harness.sh(
    'rm b.txt; echo one > a.txt; echo code > src/main.c; git update-ref --no-deref -d refs/heads/topic',
    'app',
  );
  const looks = world(harness, ['app']);
  const from = await harness.capture(target);
  return {
    harness,
    settle: () => harness.settle(undo, target, from),
    isAsItWas: () => expect(world(harness, ['app'])).toEqual(looks),
    settlesNow: async () => {
      expect((await harness.settle(undo, target)).report.outcome).toBe('applied');
      expect(world(harness, ['app'])).toEqual(atUndo);
    },
  };
};

test.for([{ kib: 100 }, { files: 20 }])(
  'a rollback that broke off is not settled where that could not be put back for lack of room: %s',
  NEEDS_MOUNT,
  async (room) => {
    using disk = smallDisk();
    const { harness, settle, isAsItWas, settlesNow } = await halfWay(disk);
    await using _ = harness;
    // Files that an earlier restore left for the next one are room, too.
    rmSync(`${harness.root}/.agent-shadow/room-s1`, { recursive: true, force: true });
    disk.leave(room);
    const { report } = await settle();
    expect([report.outcome, report.settled]).toEqual(['refused', undefined]);
    expect(report.problems).toEqual([
      { path: 'app', kind: 'failed', message: expect.stringMatching(/there is no room left|No space left/) },
    ]);
    isAsItWas();
    disk.grow();
    await settlesNow();
  },
);

test(
  'where the disk is full in the middle of settling, everything is put back as it was found',
  NEEDS_MOUNT,
  async () => {
    using disk = smallDisk();
    using full = replacedCommand(
      'git',
      `[[ " $* " == *' update-ref '*-m* ]] || exec "$real" "$@"\nrm "$armed"\nhead -c 100000000 /dev/zero >${disk.path}/filler 2>/dev/null\nexec "$real" "$@"\n`,
    );
    const { harness, settle, isAsItWas, settlesNow } = await halfWay(disk, { env: full.env });
    await using _ = harness;
    disk.leave({ kib: 4000, files: 2000 });
    full.arm();
    const { report } = await settle();
    expect([report.outcome, full.isArmed()]).toEqual(['reverted', false]);
    expect(report.problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(/No space left on device|there is no room left|couldn't write '/),
    ]);
    rmSync(`${disk.path}/filler`);
    isAsItWas();
    await settlesNow();
  },
);

test('what a killed rollback kept for its way back does not stay', async () => {
  await using harness = await withTwoFiles(['app']);
  const first = await harness.capture();
  const left = `${harness.root}/.agent-shadow/run-s1/killed`;
  mkdirSync(left, { recursive: true });
  writeFileSync(`${left}/room`, 'kept');
  await harness.capture();
  expect(readdirSync(left)).toEqual([]);
  harness.sh('echo two > app/a.txt');
  const from = await harness.capture(first);
  writeFileSync(`${left}/room`, 'kept');
  const { report } = await harness.rollback(first, { from });
  expect([report.outcome, report.problems]).toEqual(['applied', []]);
  expect(readdirSync(left)).toEqual([]);
});

test(
  'a merge that had no room to say why it failed is none, and says that there was no room',
  NEEDS_MOUNT,
  async () => {
    using disk = smallDisk();
    using full = replacedCommand(
      'git',
      `[[ " $* " == *' merge-tree '* ]] || exec "$real" "$@"\nrm "$armed"\nhead -c 100000000 /dev/zero >${disk.path}/filler 2>/dev/null\nexit 128\n`,
    );
    await using harness = await withTwoFilesOn(disk, { env: full.env });
    const base = await harness.capture();
    harness.sh('echo two > a.txt', 'app');
    const theirs = await harness.capture();
    await applies(harness, base);
    harness.sh('echo more > src/main.c', 'app');
    const now = await harness.capture();
    disk.leave({ kib: 4000 });
    full.arm();
    await expect(harness.compose([{ base, theirs }])).rejects.toMatchObject({
      name: 'SandboxUnavailable',
      message: expect.stringContaining('no space left on the disk'),
    });
    expect(full.isArmed()).toBe(false);
    rmSync(`${disk.path}/filler`);
    harness.standOn(now);
    const { merged } = await harness.compose([{ base, theirs }]);
    await applies(harness, merged);
    expect(harness.sh('cat app/a.txt app/src/main.c')).toBe('two\nmore\n');
  },
);

test(
  'where folders of ours cannot be written by this user, nothing is said of a full disk',
  NEEDS_ROOT,
  async () => {
    await using harness = await asNobody();
    const first = await harness.capture();
    harness.sh('echo two > app/a.txt; mkdir .agent-shadow/room-s1; : >.agent-shadow/room-s1/others');
    const { report } = await harness.rollback(first);
    expect([report.outcome, report.problems]).toEqual([
      'refused',
      [
        {
          path: 'app',
          kind: 'failed',
          message: expect.stringMatching(/room-s1, .* cannot be written: remove it/),
        },
      ],
    ]);
    harness.sh('rm -r .agent-shadow/room-s1; chmod a-w .agent-shadow/run-s1');
    await expect(harness.rollback(first)).rejects.toMatchObject({
      name: 'SandboxUnavailable',
      message: expect.not.stringContaining('No space left'),
    });
    harness.sh('chmod u+w .agent-shadow/run-s1');
    await applies(harness, first);
  },
);
