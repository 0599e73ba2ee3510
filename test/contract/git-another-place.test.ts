/** What stands in the place of a repository of the checkpoint, and is not it: it is named, and nothing is written. */
import { mkdirSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { createHarness, type Harness } from '../support/git-harness.ts';
import { goesBackAndForth, TWO_FILES, world } from '../support/git-repositories.ts';
import { sampledTest } from '../support/sampled-test.ts';

const test = sampledTest('git-another-place', 6);

const make = (path: string, text = 'one'): string =>
  `mkdir -p ${path}; (cd ${path}; git init -q -b main .; echo ${text} > a.txt; git add -A; git commit -qm ${text})`;

const HERE = 'find . -name .git -not -path "*/.agent-shadow/*" -printf "%h\\n" | sort';
const all = (harness: Harness): string[] => world(harness, harness.sh(HERE).trim().split('\n'));

const refused = async (harness: Harness, first: Awaited<ReturnType<Harness['capture']>>) => {
  const before = all(harness);
  const { report } = await harness.rollback(first);
  expect(report.outcome).toBe('refused');
  expect(all(harness), 'nothing was written').toEqual(before);
  return report.problems;
};

describe('a directory above a repository', () => {
  test.for([
    { name: 'became a file', damage: 'rm -rf vendor; echo file > vendor', bar: 'vendor' },
    { name: 'became a symlink', damage: 'mv vendor moved; ln -s moved vendor', bar: 'vendor' },
    { name: 'became a symlink to nowhere', damage: 'rm -rf vendor; ln -s nowhere vendor', bar: 'vendor' },
    { name: 'above it did', damage: 'mv top moved; ln -s moved top', bar: 'top' },
  ])('$name', async ({ damage, bar }) => {
    await using harness = await createHarness();
    const path = bar === 'top' ? 'top/vendor/n' : 'vendor/n';
    harness.sh(`${make(path)}; ${make('other')}`);
    const first = await harness.capture();
    harness.sh(`echo two > other/a.txt; ${damage}`);
    expect(await refused(harness, first)).toEqual([
      { path, kind: 'unsafe-path', message: expect.stringContaining(`${bar} is a file or a symlink`) },
    ]);
    harness.sh(`rm -rf ${bar}`);
    const { report } = await harness.rollback(first);
    expect(report.outcome).toBe('applied');
    expect(harness.sh(`cat ${path}/a.txt other/a.txt`)).toBe('one\none\n');
  });

  test.for([
    ['a captured symlink', 'mv vendor moved; ln -s moved vendor'],
    ['a captured file', 'rm -rf vendor; echo file > vendor'],
  ] as const)('became %s of a repository around it, which goes with the rollback', async ([, damage]) => {
    await using harness = await createHarness();
    harness.sh(`${make('outer')}; ${make('outer/vendor/n')}`);
    const work = () => harness.sh(`${damage}; echo two > a.txt`, 'outer');
    await goesBackAndForth(harness, work, () => all(harness));
  });

  test('became an ignored symlink of a repository around it', async () => {
    await using harness = await createHarness();
    harness.sh(`${make('outer')}; ${make('outer/vendor/n')}`);
    const first = await harness.capture();
    harness.sh('mv vendor moved; ln -s moved vendor; echo vendor > .gitignore', 'outer');
    expect(await refused(harness, first)).toEqual([
      { path: 'outer/vendor/n', kind: 'unsafe-path', message: expect.stringContaining('outer/vendor is') },
    ]);
  });

  test('a repository that is reached through a symlink as well is captured once', async () => {
    await using harness = await createHarness();
    harness.sh(make('vendor/n'));
    await harness.capture();
    harness.sh('mv vendor moved; ln -s moved vendor');
    const { repositories } = await harness.capture();
    expect(repositories.map(({ path, state }) => `${path} ${state}`).toSorted()).toEqual([
      'moved/n captured',
      'vendor/n absent',
    ]);
  });
});

test('a captured file in whose place a repository was made comes back, and the repository with the undo', async () => {
  await using harness = await createHarness();
  harness.sh(`${make('app')}; echo x > app/x; git -C app add x; git -C app commit -qm x`);
  const work = () => harness.sh(`rm x; ${make('x', 'inner')}`, 'app');
  const { looked, first } = await goesBackAndForth(harness, work, () => all(harness));
  expect((await harness.rehydrate(first)).outcome).toBe('applied');
  expect(all(harness)).toEqual(looked);
});

describe('linked worktrees', () => {
  test('one in the place of another repository is refused, and no branch of its own moves', async () => {
    await using harness = await createHarness();
    harness.sh(`${make('m')}; ${make('c', 'other')}; git -C c branch extra`);
    const first = await harness.capture();
    harness.sh('rm -rf c; git -C m worktree add -q -b feature ../c');
    expect(await refused(harness, first)).toEqual([
      {
        path: 'c',
        kind: 'unsafe-path',
        message: expect.stringContaining('a linked worktree of another repository'),
      },
    ]);
    harness.sh('git -C m worktree remove --force ../c');
    expect((await harness.rollback(first)).report.outcome).toBe('applied');
    expect(harness.sh('git -C c for-each-ref --format="%(refname:short)" refs/heads; git -C m branch')).toBe(
      'extra\nmain\n* main\n',
    );
  });

  test('one whose commits were pruned, so that only the beginning of its history is left, is restored', async () => {
    await using harness = await createHarness();
    harness.sh(
      `${make('m')}; git -C m worktree add -q -b feature ../w; cd w; git commit -q --allow-empty -m two`,
    );
    harness.sh('git commit -q --allow-empty -m three; git branch -f main HEAD 2>/dev/null || true', 'w');
    harness.sh('git checkout -q --detach; git commit -q --allow-empty -m four', 'm');
    const first = await harness.capture();
    const before = harness.sh('git log --oneline --all | wc -l', 'w');
    harness.sh('git checkout -q main; git reset -q --hard main', 'm');
    harness.sh('git reset -q --hard main; git reflog expire --expire=now --all; git gc -q --prune=now', 'w');
    expect((await harness.rollback(first)).report.outcome).toBe('applied');
    expect(harness.sh('git log --oneline --all | wc -l', 'w')).toBe(before);
  });

  test('a branch on which a worktree outside of the projects root stands stays, and is named', async () => {
    await using harness = await createHarness();
    harness.sh(`cd ..; mkdir outside; cd outside; git init -q -b main .; ${TWO_FILES}`);
    harness.sh('git -C ../outside worktree add -q -b inside "$PWD/w"');
    const first = await harness.capture();
    harness.sh('echo two > a.txt; git commit -qam two', 'w');
    harness.sh('cd ../outside; echo theirs > a.txt; git commit -qam theirs; git status --short');
    const main = harness.sh('git rev-parse main', 'w');
    const plan = (await harness.rollback(first, { dryRun: true })).report;
    const { report } = await harness.rollback(first);
    expect([plan.outcome, report.outcome]).toEqual(['planned', 'applied']);
    for (const { warnings, repositories } of [plan, report]) {
      expect(warnings).toEqual([
        'w: branch main stays, because a worktree outside of the projects root stands on it',
      ]);
      expect(repositories[0]?.host?.branches.map(({ name }) => name)).toEqual(['inside']);
    }
    expect(harness.sh('git rev-parse main', 'w')).toBe(main);
    expect(harness.sh('cd ../outside; git status --short; cat a.txt')).toBe('theirs\n');
    expect(harness.sh('git log --format=%s inside; git status --short', 'w')).not.toContain('two');
  });
});

describe('a repository made again in another object format', () => {
  test.for([
    ['sha1', 'sha256'],
    ['sha256', 'sha1'],
  ] as const)('from %s to %s is captured, and a rollback names it', async ([from, to]) => {
    await using harness = await createHarness();
    const make2 = (format: string, word: string) =>
      `git init -q -b main --object-format=${format} app; cd app; echo ${word} > a.txt; git add -A; git commit -qm ${word}`;
    harness.sh(make2(from, 'one'));
    const first = await harness.capture();
    const before = all(harness);
    harness.sh(`rm -rf app/.git; ${make2(to, 'two')}`);
    const second = await harness.capture();
    expect(second.report.failures).toEqual([]);
    const after = all(harness);
    expect(await refused(harness, first)).toEqual([
      { path: 'app', kind: 'unsafe-path', message: expect.stringContaining(`the object format ${to}`) },
    ]);
    harness.sh('mv app ../away');
    expect((await harness.rollback(first)).report.outcome).toBe('applied');
    expect(all(harness)).toEqual(before);
    expect((await harness.rehydrate(second)).outcome).toBe('applied');
    expect(all(harness)).toEqual(after);
  });

  test('without its .git it is still of the format that it was', async () => {
    await using harness = await createHarness();
    harness.sh(
      `git init -q -b main --object-format=sha256 app; cd app; ${TWO_FILES.replace('git init -q -b main .', ':')}`,
    );
    const first = await harness.capture();
    const before = all(harness);
    harness.sh('rm -rf .git; echo two > a.txt', 'app');
    expect((await harness.capture()).report.failures).toEqual([]);
    expect((await harness.rollback(first)).report.outcome).toBe('applied');
    expect(all(harness)).toEqual(before);
  });
});

test('a .git that git cannot use is put back, too, when another repository cannot be written', async () => {
  await using harness = await createHarness();
  harness.sh(`${make('app')}; ${make('web')}; rm app/.git/HEAD; echo two > app/a.txt`);
  harness.sh('git init -q -b main app; git -C app add -A; git -C app commit -qm two');
  const first = await harness.capture();
  harness.sh(
    'rm app/.git/HEAD; echo three > app/a.txt; cd web; git checkout -qb topic; git commit -q --allow-empty -m t',
  );
  const before = harness.sh(
    'find app -path "*/.agent-shadow" -prune -o -type f -print0 | sort -z | xargs -0 sha256sum',
  );
  mkdirSync(`${harness.root}/web/.git/refs/heads/topic.lock`);
  const { report } = await harness.rollback(first);
  expect(report.outcome).toBe('reverted');
  expect(
    harness.sh('find app -path "*/.agent-shadow" -prune -o -type f -print0 | sort -z | xargs -0 sha256sum'),
  ).toBe(before);
});

test('picks that go on in a copy find their commits, which no branch holds', async () => {
  await using harness = await createHarness();
  harness.sh(
    `${make('app')}; cd app; git checkout -qb feat; echo f > a.txt; git commit -qam f; echo h > h; git add h; git commit -qm h`,
  );
  harness.sh(
    'git checkout -q main; echo m > a.txt; git commit -qam m; git cherry-pick main..feat >/dev/null 2>&1 || true',
    'app',
  );
  harness.sh('git branch -qD feat; git reflog expire --expire=now --all', 'app');
  const first = await harness.capture();
  expect((await harness.rehydrate(first)).outcome).toBe('applied');
  harness.sh('echo fm > a.txt; git add a.txt; GIT_EDITOR=true git cherry-pick --continue', 'app');
  expect(harness.sh('git log --format=%s; cat h', 'app')).toBe('h\nf\nm\none\nh\n');
});
