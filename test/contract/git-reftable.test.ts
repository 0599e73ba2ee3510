/** Repositories whose refs are in the format reftable: what is a file elsewhere is a ref there. Git has it from 2.45 on. */
import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import type { Harness } from '../support/git-harness.ts';
import { applies, goesBackAndForth, withRepositories, world } from '../support/git-repositories.ts';

const [, major = 0, minor = 0] = (
  /(\d+)\.(\d+)/.exec(execFileSync('git', ['--version'], { encoding: 'utf8' })) ?? []
).map(Number);
const knows = describe.runIf(major * 1000 + minor >= 2045);

const INIT =
  'git init -q --ref-format=reftable -b main . && echo one > a.txt && git add -A && git commit -qm one';

const withReftable = (): Promise<Harness> => withRepositories(['app'], {}, INIT);

const CONFLICT = `git checkout -qb other; echo other > a.txt; git commit -qam other; git checkout -q main; echo main > a.txt; git commit -qam main`;

/** What git says of an operation in progress, and the refs of one. */
const operation = (harness: Harness): string =>
  harness.sh(
    `git status | sed '/agent-shadow/d; s/^HEAD detached .*/detached/'; for name in CHERRY_PICK_HEAD REVERT_HEAD REBASE_HEAD MERGE_AUTOSTASH BISECT_EXPECTED_REV; do echo "$name $(git rev-parse -q --verify $name)"; done`,
    'app',
  );

knows('an operation in progress', () => {
  test.each([
    ['a pick', `${CONFLICT}; git cherry-pick other || true`, 'git cherry-pick --abort'],
    [
      'a revert',
      `${CONFLICT}; git commit -q --allow-empty -m x; echo y > a.txt; git commit -qam y; git revert HEAD~2 || true`,
      'git revert --abort',
    ],
    ['a rebase', `${CONFLICT}; git rebase other || true`, 'git rebase --abort'],
    [
      'a merge with work put aside',
      `echo b > b; git add b; git commit -qm b; ${CONFLICT}; echo c > b; git merge --autostash other || true`,
      'git merge --abort',
    ],
    [
      'a bisect',
      'for i in 1 2 3 4 5; do echo $i > a.txt; git commit -qam $i; done; git bisect start HEAD HEAD~5',
      'git bisect reset',
    ],
  ])('%s comes back, and goes', async (_, begin, end) => {
    await using harness = await withReftable();
    harness.sh(`{ ${begin}; } >begin.log 2>&1; rm begin.log`, 'app');
    const work = () => harness.sh(`${end} >end.log 2>&1; rm end.log; echo more > more`, 'app');
    const looks = () => [world(harness, ['app']), operation(harness)];
    const { first } = await goesBackAndForth(harness, work, looks);
    expect(first.report.failures).toEqual([]);
  });
});

knows('what is shared', () => {
  test('a branch on which a worktree outside of the projects root stands is left there', async () => {
    await using harness = await withReftable();
    harness.sh(`git branch side; git worktree add -q ${harness.top}/outside side`, 'app');
    const first = await harness.capture();
    harness.sh(
      `git -C ${harness.top}/outside commit -q --allow-empty -m two; git commit -q --allow-empty -m two; git rev-parse side`,
      'app',
    );
    const { report } = await applies(harness, first);
    expect(report.warnings).toEqual([
      'app: branch side stays, because a worktree outside of the projects root stands on it',
    ]);
    expect(harness.sh('git log --format=%s side; git log --format=%s', 'app')).toBe('two\none\none\n');
  });

  test('entries of the stash are named', async () => {
    await using harness = await withReftable();
    harness.sh('for name in one two; do echo $name >> a.txt; git stash push -qm $name; done', 'app');
    const ids = harness.sh('git stash list --format=%H', 'app').trim().split('\n');
    const first = await harness.capture();
    expect(first.repositories[0]?.stash).toEqual(ids);
    harness.sh('git stash drop -q', 'app');
    const { report } = await applies(harness, first);
    expect(report.warnings).toEqual([expect.stringContaining(`are gone since: ${ids[0]}.`)]);
  });

  test('the stash of a submodule is found where the submodule is gone', async () => {
    await using harness = await withReftable();
    harness.sh(
      'git init -q --ref-format=reftable -b main lib; cd lib; echo l > l; git add l; git commit -qm lib',
    );
    const before = await harness.capture();
    harness.sh(
      'git -c protocol.file.allow=always submodule --quiet add --ref-format=reftable ../lib part; cd part; echo p > l; git stash push -q',
      'app',
    );
    const target = await harness.capture();
    await applies(harness, before);
    expect((await applies(harness, target)).report.warnings).toEqual([]);
  });

  test('a file HEAD that broke says again what it says with this format', async () => {
    await using harness = await withReftable();
    const before = world(harness, ['app']);
    const first = await harness.capture();
    harness.sh(': > .git/HEAD; echo more > more', 'app');
    await applies(harness, first);
    expect(harness.sh('cat .git/HEAD', 'app')).toBe('ref: refs/heads/.invalid\n');
    expect(world(harness, ['app'])).toEqual(before);
  });

  test('what a commit that is gone was noted for stays away when the commit comes back', async () => {
    await using harness = await withReftable();
    harness.sh('echo two > a.txt; git commit -qam two', 'app');
    const first = await harness.capture();
    harness.sh(
      'git reset -q --hard HEAD~1; git reflog expire --expire=now --all; old=$(git rev-parse ORIG_HEAD); rm -f .git/objects/${old:0:2}/${old:2}',
      'app',
    );
    await applies(harness, first);
    expect(harness.sh('git log --format=%s -1', 'app')).toBe('two\n');
  });

  test('a lock that a killed git left for HEAD of a linked worktree is removed', async () => {
    await using harness = await withReftable();
    harness.sh('git worktree add -q ../tree -b tree', 'app');
    const first = await harness.capture();
    harness.sh(
      'git checkout -q --detach; touch "$(git rev-parse --git-dir)/reftable/tables.list.lock"',
      'tree',
    );
    await applies(harness, first);
    expect(harness.sh('git symbolic-ref HEAD', 'tree')).toBe('refs/heads/tree\n');
  });
});
