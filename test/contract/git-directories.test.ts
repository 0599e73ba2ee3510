/** Git directories that lie in the working tree of another repository: they belong to the repository that uses them. */
import { existsSync } from 'node:fs';
import { describe, expect } from 'vitest';
import type { RestoreReport } from '../../core/checkpoint/ports/restore.ts';
import { createHarness, type Harness, type Snapshot } from '../support/git-harness.ts';
import { applies, goesBackAndForth, TWO_FILES, world } from '../support/git-repositories.ts';
import { sampledTest } from '../support/sampled-test.ts';

/** Some of them, others each time; all of them in a whole run. */
const test = sampledTest('git-directories', 6);

/** Layouts: what makes it beside `outer`, which repository uses the directory, and where it lies in `outer`. */
const LAYOUTS = [
  {
    name: 'the separate git directory of a repository inside',
    make: 'mkdir outer/store; git init -q -b main --separate-git-dir outer/store/inner.git outer/inner; cd outer/inner; printf "gitdir: ../store/inner.git\\n" > .git; echo i > i; git add i; git commit -qm i; git tag keep',
    user: 'outer/inner',
    held: 'store/inner.git',
  },
  {
    name: 'the separate git directory of a repository beside',
    make: 'git init -q -b main --separate-git-dir outer/beside.git beside; cd beside; echo i > i; git add i; git commit -qm i; git tag keep',
    user: 'beside',
    held: 'beside.git',
  },
  {
    name: 'a bare repository with a linked worktree beside',
    make: 'git init -q -b main --bare outer/bare.git; cd outer/bare.git; git update-ref refs/heads/main $(git commit-tree -m i $(git mktree </dev/null)); git worktree add -q ../../tree main; cd ../../tree; echo i > i; git add i; git commit -qm i; git tag keep; git pack-refs --all',
    user: 'tree',
    held: 'bare.git',
  },
  {
    name: 'its own separate git directory, inside itself',
    make: 'mkdir self; cd self; git init -q -b main --separate-git-dir .bare; echo i > i; git add i; git commit -qm i; git tag keep',
    user: 'self',
    held: '.bare',
    outer: 'self',
  },
] as const;

const OUTER = `mkdir outer; cd outer; ${TWO_FILES}`;

/** What only the git directory has, and whether its objects are whole. */
const HEALTH = 'git tag; git fsck 2>&1 | grep -v dangling || true';

const countsOf = ({ repositories }: RestoreReport): string[] =>
  repositories.map(({ path, action, written, deleted }) => `${path} ${action} ${written} ${deleted}`);

const outerOf = (layout: (typeof LAYOUTS)[number]): string => ('outer' in layout ? layout.outer : 'outer');

const filesOf = (harness: Harness, snapshot: Snapshot, path: string): string[] => {
  const one = snapshot.repositories.find((state) => state.path === path);
  if (one?.state !== 'captured') return [];
  return harness
    .sh(`GIT_DIR=.agent-shadow/session-s1 git ls-tree -r --name-only ${one.tree}`, path)
    .trim()
    .split('\n');
};

describe.each(LAYOUTS)('$name', (layout) => {
  const { make, user, held } = layout;
  const outer = outerOf(layout);
  const repositories = [...new Set(['outer', outer, user])];
  /** All but what is in the directory itself. */
  const around = (harness: Harness) =>
    world(harness, repositories).filter((line) => !line.includes(`${held}/`));

  test('is no part of the files around it, and is said', async () => {
    await using harness = await createHarness();
    harness.sh(OUTER);
    harness.sh(make);
    const first = await harness.capture();
    expect(first.report.failures).toEqual([]);
    expect(filesOf(harness, first, outer).filter((path) => path.startsWith(held))).toEqual([]);
    expect(first.report.skipped).toEqual([
      { path: `${outer}/${held}`, reason: `the git directory of the repository ${user}` },
    ]);
    const before = around(harness);
    harness.sh('echo ii > i; git add i; git commit -qm ii; git branch topic; git gc -q; echo u > u', user);
    harness.sh('echo more >> a.txt; git add -A . 2>/dev/null || true; mkdir empty', 'outer');
    const second = await harness.capture();
    const after = around(harness);
    const { undo } = await applies(harness, first);
    expect(around(harness)).toEqual(before);
    await applies(harness, undo);
    expect(around(harness)).toEqual(after);
    expect(second.report.skipped).toEqual(first.report.skipped);
    expect(harness.sh(HEALTH, user)).toBe('keep\n');
  });

  test('stays when its repository goes, and is whole when it comes back', async () => {
    await using harness = await createHarness();
    harness.sh(OUTER);
    const none = await harness.capture();
    harness.sh(make);
    await harness.capture();
    const looks = around(harness);
    const plan = await harness.rollback(none, { dryRun: true });
    const { undo, report } = await applies(harness, none);
    expect(plan.report.warnings).toEqual(report.warnings);
    expect(countsOf(plan.report)).toEqual(countsOf(report));
    expect(report.warnings.filter((line) => line.includes(`${held} stays as it is`))).toHaveLength(
      outer === 'outer' ? 1 : 0,
    );
    expect(existsSync(`${harness.root}/${outer}/${held}/HEAD`)).toBe(true);
    // Nobody uses it now, so these are files.
    const plain = await harness.capture();
    expect(plain.report.skipped).toEqual([]);
    const again = await harness.rollback(undo, { dryRun: true });
    expect(again.report.outcome).toBe('planned');
    const back = await applies(harness, undo);
    expect(back.report.warnings).toEqual(again.report.warnings);
    expect(countsOf(back.report)).toEqual(countsOf(again.report));
    expect(around(harness)).toEqual(looks);
    expect(harness.sh(HEALTH, user)).toBe('keep\n');
  });
});

describe('a bare repository in the working tree of another', () => {
  const BARE =
    'git init -q -b main --bare bare.git; cd bare.git; git update-ref refs/heads/main $(git commit-tree -m i $(git mktree </dev/null))';

  test('is plain files while nobody uses it, empty directories and modes included', async () => {
    await using harness = await createHarness();
    harness.sh(`${OUTER}; ${BARE}`);
    const work = 'git update-ref refs/tags/t refs/heads/main; git pack-refs --all; chmod 700 objects';
    await goesBackAndForth(harness, () => harness.sh(work, 'outer/bare.git'), ['outer']);
    expect(harness.sh('git tag', 'outer/bare.git')).toBe('t\n');
  });

  test('is left alone by rollbacks between a time when a worktree used it and one when none did', async () => {
    await using harness = await createHarness();
    harness.sh(`${OUTER}; ${BARE}`);
    const plain = await harness.capture();
    harness.sh(
      'git worktree add -q ../../tree main; cd ../../tree; echo t > t; git add t; git commit -qm t; git branch side',
      'outer/bare.git',
    );
    const used = await harness.capture();
    // A restore brings objects that a repository lacks.
    const looksNow = () =>
      world(harness, ['outer', 'tree']).filter((line) => !line.includes('/objects/pack/'));
    const looks = looksNow();
    const plan = await harness.rollback(plain, { dryRun: true });
    const { undo, report } = await applies(harness, plain);
    expect(report.warnings).toEqual(plan.report.warnings);
    expect(report.warnings.join()).toMatch(
      /bare\.git stays as it is: .* of the repository tree, where the checkpoint has \d+ files/,
    );
    expect(existsSync(`${harness.root}/tree`)).toBe(false);
    expect(harness.sh('git log --format=%s main', 'outer/bare.git')).toBe('t\ni\n');
    await harness.capture();
    await applies(harness, undo);
    expect(looksNow()).toEqual(looks);
    harness.sh('echo more > more', 'outer');
    await applies(harness, used);
    expect(looksNow()).toEqual(looks);
  });

  test('does not come into a fresh sandbox, where its worktree is a repository of its own', async () => {
    await using harness = await createHarness();
    harness.sh(
      `${OUTER}; ${BARE}; git worktree add -q ../../tree main; cd ../../tree; echo t > t; git add t`,
    );
    const last = await harness.capture();
    const report = await harness.rehydrate(last);
    expect([report.outcome, report.problems]).toEqual(['applied', []]);
    expect(existsSync(`${harness.root}/outer/bare.git`)).toBe(false);
    expect(harness.sh('git status --short', 'tree')).toBe('A  t\n');
  });

  test('is not touched by a merge, and files that the other side has there do not come, which is said', async () => {
    await using harness = await createHarness();
    harness.sh(`${OUTER}; ${BARE}`);
    const base = await harness.capture();
    harness.sh('echo theirs > theirs; echo "# theirs" >> bare.git/config', 'outer');
    const theirs = await harness.capture();
    await applies(harness, base);
    harness.sh('git worktree add -q ../../tree main', 'outer/bare.git');
    await harness.capture();
    const before = harness.sh('cat config', 'outer/bare.git');
    const { report, merged } = await harness.compose([{ base, theirs }]);
    // It is gone from the files of this side.
    expect(report.conflicts).toMatchObject([
      { repository: 'outer', path: 'bare.git/config', kind: 'modify/delete' },
    ]);
    const some = await harness.compose([{ base, theirs }], { paths: { outer: ['theirs'] } });
    expect(some.report.conflicts).toEqual([]);
    await applies(harness, some.merged);
    expect(harness.sh('cat config; cat ../theirs; git -C ../../tree status --short', 'outer/bare.git')).toBe(
      `${before}theirs\n`,
    );
    expect(merged.repositories.length).toBeGreaterThan(0);
  });
});
