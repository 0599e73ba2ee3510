/** Repositories that were made, deleted, renamed or damaged between a capture and the rollback to it. */
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { files } from '../support/fingerprint.ts';
import { createHarness } from '../support/git-harness.ts';
import { applies, goesBackAndForth, TWO_FILES, withTwoFiles, world } from '../support/git-repositories.ts';
import { sampledTest } from '../support/sampled-test.ts';

/** Some of them, others each time; all of them in `npm run test:long`. */
const test = sampledTest('git-come-and-go', 4);

describe('repositories that come and go', () => {
  test('one created after the checkpoint is parked, with its .git, and comes back on undo', async () => {
    await using harness = await withTwoFiles(['app']);
    const before = world(harness, ['app']);
    const first = await harness.capture();
    harness.sh(
      `git init -q -b main new/deep; cd new/deep; echo n > n; git add n; git commit -qm n; git stash list; echo '*.log' > .gitignore; echo w > w; git tag keep`,
    );
    const after = world(harness, ['app', 'new/deep']);
    const { undo, report } = await harness.rollback(first);
    expect(report.outcome).toBe('applied');
    expect(report.repositories.find((one) => one.path === 'new/deep')?.action).toBe('parked');
    expect(world(harness, ['app'])).toEqual(before);
    expect((await harness.rollback(undo)).report.outcome).toBe('applied');
    expect(world(harness, ['app', 'new/deep'])).toEqual(after);
    expect(
      harness.sh('git tag', 'new/deep').trim(),
      'what no capture holds came back with the parked .git',
    ).toBe('keep');
  });

  test('many leave at once, of one directory and as worktrees of one repository, and all come back', async () => {
    await using harness = await withTwoFiles(['app']);
    const first = await harness.capture();
    const numbers = [1, 2, 3, 4, 5, 6];
    for (const n of numbers) {
      harness.sh(`git worktree add -qb branch-${n} ../trees/tree-${n}`, 'app');
      harness.sh(
        `git init -q -b main trees/new-${n}; cd trees/new-${n}; echo ${n} > n; git add n; git commit -qm n`,
      );
    }
    const all = ['app', ...numbers.flatMap((n) => [`trees/tree-${n}`, `trees/new-${n}`])];
    const after = world(harness, all);
    const { undo } = await applies(harness, first);
    expect(existsSync(`${harness.root}/trees`), 'the directory of those that left').toBe(false);
    expect(existsSync(`${harness.root}/app/.git/worktrees`), 'what git noted about worktrees').toBe(false);
    await applies(harness, undo);
    expect(world(harness, all)).toEqual(after);
  });

  test('one is parked although its shadow was deleted and a capture of before stood for a later one', async () => {
    await using harness = await withTwoFiles(['app']);
    const first = await harness.capture();
    harness.sh('git init -q -b main new; cd new; echo n > n; git add n; git commit -qm n');
    await harness.capture();
    harness.sh('rm -rf new/.agent-shadow');
    await harness.capture();
    harness.sh('echo more > new/more');
    const after = world(harness, ['app', 'new']);
    const { undo } = await applies(harness, first);
    expect(existsSync(`${harness.root}/new`)).toBe(false);
    await applies(harness, undo);
    expect(world(harness, ['app', 'new'])).toEqual(after);
  });

  test('ignored files of a parked repository stay where they are', async () => {
    await using harness = await withTwoFiles(['app']);
    const first = await harness.capture();
    harness.sh(`git init -q -b main new; echo '*.log' > new/.gitignore; echo precious > new/x.log`);
    expect((await harness.rollback(first)).report.outcome).toBe('applied');
    expect(readFileSync(`${harness.root}/new/x.log`, 'utf8')).toBe('precious\n');
  });

  test('one deleted whole is made again from its bundles, with history, branches and remotes', async () => {
    await using harness = await withTwoFiles(['app', 'web']);
    harness.sh(
      'git remote add origin https://user:secret@example.com/web.git; git branch topic; echo w >> a.txt; git add a.txt; echo u > u',
      'web',
    );
    const before = world(harness, ['app', 'web']);
    const first = await harness.capture();
    harness.sh('rm -rf web; echo x > app/a.txt');
    const second = await harness.capture();
    expect(second.repositories.find((one) => one.path === 'web')?.state).toBe('absent');
    const { undo, report } = await harness.rollback(first);
    expect(report.problems).toEqual([]);
    expect(report.outcome).toBe('applied');
    expect(world(harness, ['app', 'web'])).toEqual(before);
    expect(
      harness.sh(
        'git remote get-url origin; git fsck --connectivity-only 2>&1 | grep -v dangling || true',
        'web',
      ),
    ).toBe('https://example.com/web.git\n');
    expect((await harness.rollback(undo)).report.outcome).toBe('applied');
    expect(existsSync(`${harness.root}/web`)).toBe(false);
  });

  test('remote-tracking branches are in no capture: one made again has an upstream that is gone until a fetch', async () => {
    await using harness = await withTwoFiles(['app']);
    harness.sh(
      'git clone -q --bare app up.git; git clone -q up.git web; cd web; echo two > a.txt; git commit -qam two',
    );
    const first = await harness.capture();
    const status = () => harness.sh('git status -sb', 'web').split('\n')[0];
    expect(status()).toBe('## main...origin/main [ahead 1]');

    // In a repository that is there they stay as they are.
    harness.sh('git reset -q --hard HEAD~1; git update-ref refs/remotes/origin/later HEAD', 'web');
    expect((await harness.rollback(first)).report.outcome).toBe('applied');
    expect(status()).toBe('## main...origin/main [ahead 1]');
    expect(harness.sh('git rev-parse --verify -q origin/later', 'web')).toMatch(/^[0-9a-f]{40}\n$/);

    harness.sh('rm -rf web');
    expect((await harness.rollback(first)).report.outcome).toBe('applied');
    expect(status()).toBe('## main...origin/main [gone]');
    expect(harness.sh('git for-each-ref refs/remotes; git config branch.main.merge', 'web')).toBe(
      'refs/heads/main\n',
    );
    harness.sh('git fetch -q', 'web');
    expect(status()).toBe('## main...origin/main [ahead 1]');
  });

  test('one whose .git was deleted keeps being captured, and gets its .git back', async () => {
    await using harness = await withTwoFiles(['app']);
    harness.sh('echo s > s; git add s; echo u > u', 'app');
    const work = () => harness.sh('rm -rf .git; echo lost > u; echo n > n', 'app');
    await goesBackAndForth(harness, work, ['app'], () => files(harness.root));
  });

  test('one renamed is the old one gone and a new one come', async () => {
    await using harness = await withTwoFiles(['app']);
    await goesBackAndForth(harness, () => harness.sh('mv app moved; echo m > moved/m'), ['app'], ['moved']);
  });

  test('the projects root itself may be the repository', async () => {
    await using harness = await createHarness();
    harness.sh(`${TWO_FILES}; git init -q -b main inner; cd inner; echo i > i`);
    const before = world(harness, ['.', 'inner']);
    const first = await harness.capture();
    expect(first.repositories.map((one) => one.path).toSorted()).toEqual(['.', 'inner']);
    harness.sh('rm -rf a.txt inner; echo x > x; git add -A; git commit -qm x');
    expect((await harness.rollback(first)).report.outcome).toBe('applied');
    expect(world(harness, ['.', 'inner'])).toEqual(before);
  });
});
