/** Other file systems mounted inside a repository, or below the projects root: what they hide, and what cannot be renamed. */
import { expect } from 'vitest';
import { shellWord } from '../../cli/options.ts';
import { createHarness, type Harness } from '../support/git-harness.ts';
import { applies, rebuilds, TWO_FILES, withTwoFiles, world } from '../support/git-repositories.ts';
import { NEEDS_MOUNT } from '../support/needs-root.ts';
import { inTurn } from '../support/sampled-test.ts';
import { printedSeed, WHOLE } from '../support/sampling.ts';
import { type Fault, type Kind, tracedProgram, whyUntraced } from '../support/traced-program.ts';

const test = inTurn('git-mounts');
const SEED = printedSeed('faults of restores on other file systems');

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

const ON_OTHER = `mkdir on/app; cd on/app; ${TWO_FILES}; git tag kept; echo two > a.txt; git stash -q; echo mine > .git/hooks/mine; rm .git/hooks/*.sample; git worktree add -q ../tree -b topic; echo w > ../tree/w`;
const NAMES = ['other', 'on/app', 'on/tree'];

/** Faults at calls of the program while it moves repositories between file systems, and how many calls are passed over. */
const FAULTS = [
  ['killed', 'renames', 1, { kind: 'kill', when: 'before' }],
  ['killed', 'removals', 13, { kind: 'kill', when: 'before' }],
  ['killed', 'creates', 13, { kind: 'kill', when: 'after' }],
  ['killed', 'syncs', 3, { kind: 'kill', when: 'after' }],
  ['out of room', 'creates', 17, { kind: 'fail', errno: 'ENOSPC', when: 'before', lasts: true }],
  ['out of room', 'directories', 7, { kind: 'fail', errno: 'ENOSPC', when: 'before', lasts: true }],
] as const satisfies [string, Kind, number, Fault][];

test.for(FAULTS)(
  'repositories on another file system are whole after a rollback that was %s at some of its %s',
  { ...NEEDS_MOUNT, timeout: 1_200_000 },
  async ([how, kind, step, does], { skip }) => {
    const why = whyUntraced();
    if (why !== undefined) skip(why);
    using traced = tracedProgram();
    await using harness = await createHarness({ prefix: traced.prefix });
    await mounted(harness, async () => {
      harness.sh(`mkdir on; mount -t tmpfs tmpfs on; mkdir other; cd other; ${TWO_FILES}`);
      const without = world(harness, ['other']);
      const first = await harness.capture();
      harness.sh(ON_OTHER);
      const looks = world(harness, NAMES);
      const kept = harness.sh(KEPT, 'on/app');
      const second = await harness.capture();
      const every = WHOLE ? step : 6 * step;
      for (const [there, back] of [
        [first, second],
        [second, first],
      ] as const) {
        for (let at = 1 + (SEED % every); ; at += every) {
          const name = `${how} at ${kind} ${at}`;
          if (there === second) await applies(harness, first);
          const from = await harness.capture(there);
          const { answer, told } = await traced.during(harness.root, { kinds: [kind], at, does }, () =>
            harness.rollback(there, { from }).then(
              ({ report }) => report.outcome,
              () => 'died',
            ),
          );
          const isMet = told.some(({ done }) => done.length > 0);
          if (isMet) expect(answer, name).not.toBe('planned');
          // The same again, or the way back.
          if (at % 2 === 1) await applies(harness, there);
          await applies(harness, first);
          expect(world(harness, ['other']), name).toEqual(without);
          await applies(harness, second);
          expect(world(harness, NAMES), name).toEqual(looks);
          expect(harness.sh(KEPT, 'on/app'), name).toBe(kept);
          const left = `find . -path "*/parked-*/git*" -o -name "*carried-s1" -o -name "*walkback-new*" -o -name "*.leaving" -o -name "begun-*"`;
          expect(harness.sh(left), name).toBe('');
          if (!isMet) break;
        }
        expect(back).toBeDefined();
      }
    });
  },
);

test(
  'a restore syncs each file system on which a repository or its git directory lies, once',
  NEEDS_MOUNT,
  async ({ skip }) => {
    const why = whyUntraced();
    if (why !== undefined) skip(why);
    using traced = tracedProgram();
    await using harness = await createHarness({ prefix: traced.prefix });
    await mounted(harness, async () => {
      harness.sh(
        `mkdir on far other plain; mount -t tmpfs tmpfs on; mount -t tmpfs tmpfs far; mkdir on/app on/too; git init -q -b main --separate-git-dir far/git plain; for d in on/app on/too other plain; do cd $d; ${TWO_FILES}; cd "$OLDPWD"; done`,
      );
      const first = await harness.capture();
      harness.sh('for d in on/app on/too other plain; do echo two > $d/a.txt; done');
      const syncs: Record<string, number> = {};
      for (const about of ['.agent-shadow', 'on/app', 'on/too', 'far/git', 'other', 'plain']) {
        const from = await harness.capture(first);
        const does = { kind: 'kill', when: 'before' } as const;
        const planned = { kinds: ['syncs'], about, at: 1000, does } as const;
        const { told } = await traced.during(harness.root, planned, () => applies(harness, first, { from }));
        syncs[about] = told.reduce((all, { chosen }) => all + chosen, 0);
        await applies(harness, from);
      }
      const { '.agent-shadow': own = 0, ...others } = syncs;
      expect(own).toBeGreaterThan(2);
      expect(others).toEqual({ 'on/app': 3, 'on/too': 0, 'far/git': 3, other: 0, plain: 0 });
    });
  },
);

test('repositories in a lower layer of an overlay are parked, and come back', NEEDS_MOUNT, async () => {
  await using harness = await withTwoFiles(['other']);
  const first = await harness.capture();
  harness.sh(
    `mkdir app; cd app; ${TWO_FILES}; git tag kept; mkdir -p deep/er; echo d > deep/er/d; git add -A; git commit -qm deep`,
  );
  await mounted(harness, async () => {
    const top = `${harness.top}/layers`;
    harness.sh(
      `${ALL_COMMANDS} mkdir ${top}; mount -t tmpfs tmpfs ${top}; mkdir ${top}/upper ${top}/work; cp -a "$PWD" ${top}/lower; mount -t overlay overlay -o lowerdir=${top}/lower,upperdir=${top}/upper,workdir=${top}/work "$PWD"`,
    );
    try {
      const looks = world(harness, ['other', 'app']);
      const second = await harness.capture();
      await applies(harness, first);
      expect(world(harness, ['other'])).toEqual(
        looks.filter((line) => !/^(?:\S+ )*app(?:$|[ :/])/.test(line) && !line.startsWith('app')),
      );
      await applies(harness, second);
      expect(world(harness, ['other', 'app'])).toEqual(looks);
      expect(harness.sh('git tag; git fsck 2>&1', 'app')).toBe('kept\n');
    } finally {
      harness.sh(`${ALL_COMMANDS} cd /; umount -l ${harness.root}; umount -l ${top}`);
    }
  });
});

/** What would have to be moved or removed, and cannot be, because something is mounted there. */
const BARS = [
  ['a repository', 'mkdir app', 'mount -t tmpfs tmpfs app', ':', 'app'],
  ['its .git', 'mkdir -p app/.git', ':', 'mount --bind app/.git app/.git', '.git'],
  ['a file of it', 'mkdir app', ':', 'mount --bind app/a.txt app/a.txt', 'a.txt'],
  ['a directory of it', 'mkdir app', ':', 'mount --bind app/src app/src', 'src'],
] as const;

test.for(BARS)(
  'a rollback that would have to move %s away, where something is mounted, is refused, and nothing changed',
  NEEDS_MOUNT,
  async ([, make, before, after, named]) => {
    await using harness = await withTwoFiles(['other']);
    await mounted(harness, async () => {
      const first = await harness.capture();
      harness.sh(`${make}; ${before}; cd app; ${TWO_FILES}; cd ..; ${after}; echo more >> other/a.txt`);
      const looks = world(harness, ['other', 'app']);
      const { report } = await harness.rollback(first);
      expect(report.outcome).toBe('refused');
      expect(report.problems).toEqual([
        {
          path: 'app',
          kind: 'failed',
          message: `${named} is a mount point, which a restore can neither move nor remove: unmount it, then call again`,
        },
      ]);
      expect(world(harness, ['other', 'app'])).toEqual(looks);
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
