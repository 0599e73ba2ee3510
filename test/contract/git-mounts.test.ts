/** Other file systems mounted inside a repository, or below the projects root: what they hide, and what cannot be renamed. */
import { expect } from 'vitest';
import { shellWord } from '../../cli/options.ts';
import { commandsWithout } from '../support/command-faults.ts';
import type { Harness } from '../support/git-harness.ts';
import { applies, rebuilds, TWO_FILES, withTwoFiles, world } from '../support/git-repositories.ts';
import { NEEDS_MOUNT } from '../support/needs-root.ts';
import { OF_SCRIPTS } from '../support/of-scripts.ts';
import { replacedCommand } from '../support/placing.ts';
import { inTurn } from '../support/sampled-test.ts';

const test = inTurn('git-mounts');

/** Also where the sandbox has none of those that mount. */
const ALL_COMMANDS = `PATH=${shellWord(process.env['PATH'] ?? '')};`;

/** Everything mounted below the projects root is gone afterwards. */
const mounted = async (harness: Harness, work: () => Promise<void>) => {
  try {
    await work();
  } finally {
    harness.sh(
      `${ALL_COMMANDS} awk '{ print $2 }' /proc/mounts | grep "^$PWD/" | sort -r | xargs -r umount -l`,
    );
  }
};

test.for([
  ['a directory', 'mount -t tmpfs tmpfs src; echo other > src/other', 'umount src'],
  ['a file', 'echo bound > ../bound; mount --bind ../bound a.txt', 'umount a.txt'],
] as const)(
  'what %s that is mounted no more had hidden is in the next capture',
  NEEDS_MOUNT,
  async ([, mount, unmount]) => {
    await using harness = await withTwoFiles(['app']);
    await mounted(harness, async () => {
      await harness.capture();
      harness.sh(mount, 'app');
      await harness.capture();
      // What was just mounted is new to that one, and not to this.
      await harness.capture();
      harness.sh(`${unmount}; rm -f ../bound`, 'app');
      const looks = world(harness, ['app']);
      await rebuilds(harness, await harness.capture());
      expect(world(harness, ['app'])).toEqual(looks);
    });
  },
);

/** What no checkpoint holds of a repository that was parked. */
const KEPT = 'git tag; git stash list; cat .git/hooks/mine; git fsck 2>&1';

test('a repository on another file system is parked, and comes back', NEEDS_MOUNT, async () => {
  await using harness = await withTwoFiles(['other']);
  await mounted(harness, async () => {
    harness.sh('mkdir on; mount -t tmpfs tmpfs on');
    const without = world(harness, ['other']);
    const first = await harness.capture();
    harness.sh(
      `mkdir on/app; cd on/app; ${TWO_FILES}; git tag kept; echo two > a.txt; git stash -q; echo mine > .git/hooks/mine; chmod 600 a.txt`,
    );
    const looks = world(harness, ['other', 'on/app']);
    const kept = harness.sh(KEPT, 'on/app');
    const { undo } = await applies(harness, first);
    expect(world(harness, ['other'])).toEqual(without);
    await applies(harness, undo);
    expect(world(harness, ['other', 'on/app'])).toEqual(looks);
    expect(harness.sh(KEPT, 'on/app')).toBe(kept);
    harness.sh('echo three > a.txt; rm src/main.c', 'on/app');
    await applies(harness, undo);
    expect(world(harness, ['other', 'on/app'])).toEqual(looks);
    expect(harness.sh('find on -name "*walkback-new*"')).toBe('');
  });
});

/** Processes that are killed in the middle of a move between file systems, by when. */
const KILLED = [
  ['copied', 'cp', '*/git.part', '"$real" -a -T -- .git/refs "${@: -1}"'],
  ['copied where there is no perl', 'cp', '*/git.part', '"$real" -a -T -- .git/refs "${@: -1}"'],
  ['removed', 'rm', '-rf -- .git', '"$real" -rf -- .git/objects/??'],
  [
    'removed behind its notes',
    'rm',
    '-rf -- */cleared */metas */parked-s1/*',
    '"$real" -rf -- "$3" "$4" "$5"/git/objects/??',
  ],
  ['copied back', 'cp', '*/carried-s1', '"$real" -a -T -- "$4" "${@: -1}"; rm -r "${@: -1}"/objects/??'],
] as const;

test.for(KILLED)(
  'a repository on another file system is whole after a rollback that was killed while it was %s',
  { ...NEEDS_MOUNT, ...OF_SCRIPTS },
  async ([when, command, words, half]) => {
    using killed = replacedCommand(
      command,
      `[[ $* == ${words.replaceAll(' ', '\\ ')} ]] || exec "$real" "$@"\nrm "$armed"\n${half}\nkill -KILL 0\n`,
    );
    using commands = commandsWithout(when.endsWith('no perl') ? 'perl' : '');
    const bin = killed.env.PATH.split(':', 1);
    await using harness = await withTwoFiles(['other'], { env: { PATH: [...bin, commands.path].join(':') } });
    await mounted(harness, async () => {
      harness.sh(`${ALL_COMMANDS} mkdir on; mount -t tmpfs tmpfs on`);
      const without = world(harness, ['other']);
      const first = await harness.capture();
      harness.sh(
        `mkdir on/app; cd on/app; ${TWO_FILES}; git tag kept; echo two > a.txt; git stash -q; echo mine > .git/hooks/mine`,
      );
      const looks = world(harness, ['other', 'on/app']);
      const kept = harness.sh(KEPT, 'on/app');
      const second = await harness.capture();
      const back = when === 'copied back' || when === 'removed behind its notes';
      if (back) await applies(harness, first);
      killed.arm();
      await expect(harness.rollback(back ? second : first)).rejects.toMatchObject({
        name: 'SandboxUnavailable',
      });
      expect(killed.isArmed()).toBe(false);
      if (!back) {
        await applies(harness, first);
        expect(world(harness, ['other'])).toEqual(without);
      }
      await applies(harness, second);
      expect(world(harness, ['other', 'on/app'])).toEqual(looks);
      expect(harness.sh(KEPT, 'on/app')).toBe(kept);
      expect(harness.sh('find .agent-shadow -path "*/parked-*/git"')).toBe('');
    });
  },
);

test(
  'a repository on another file system that cannot be deleted whole is parked all the same, and nothing else suffers',
  NEEDS_MOUNT,
  async () => {
    await using harness = await withTwoFiles(['other']);
    await mounted(harness, async () => {
      harness.sh('mkdir on; mount -t tmpfs tmpfs on');
      const first = await harness.capture();
      harness.sh(
        `mkdir on/app; cd on/app; ${TWO_FILES}; mkdir .git/lfs; mount -t tmpfs tmpfs .git/lfs; echo large > .git/lfs/one; git tag kept`,
      );
      const looks = world(harness, ['other', 'on/app']);
      const second = await harness.capture();
      const { report } = await harness.rollback(first);
      expect(report).toMatchObject({ outcome: 'applied', problems: [] });
      expect(report.warnings.join()).toContain('not all of the .git that was put aside could be deleted');
      expect((await harness.capture()).repositories).toContainEqual(
        expect.objectContaining({ path: 'other', state: 'captured' }),
      );
      harness.sh('umount on/app/.git/lfs');
      await applies(harness, second);
      expect(world(harness, ['other', 'on/app'])).toEqual(looks);
      expect(harness.sh('git tag; cat .git/lfs/one', 'on/app')).toBe('kept\nlarge\n');
    });
  },
);

test(
  'a repository that was mounted read-only is named with what to do, and captured when it is mounted read-write',
  NEEDS_MOUNT,
  async () => {
    await using harness = await withTwoFiles(['app', 'web']);
    await mounted(harness, async () => {
      harness.sh('mount --bind app app');
      await harness.capture();
      harness.sh('mount -o remount,bind,ro app');
      const { report } = await harness.capture();
      const place = `${harness.root}/app/.agent-shadow/session-s1`;
      expect(report.failures).toEqual([
        {
          path: 'app',
          reason: `${place} cannot be written by user 0: it is mounted read-only. Walkback keeps its own git directories there: mount it read-write, then call again.`,
        },
      ]);
      harness.sh('mount -o remount,bind,rw app');
      expect((await harness.capture()).report.failures).toEqual([]);
    });
  },
);
