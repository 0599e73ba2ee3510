/** A branch that only names another one is captured as that, and comes back as that. */
import { describe, expect } from 'vitest';
import { hostLines } from '../../present/host-lines.ts';
import { files } from '../support/fingerprint.ts';
import type { Harness } from '../support/git-harness.ts';
import { applies, goesBackAndForth, rebuilds, withTwoFiles, world } from '../support/git-repositories.ts';
import { inTurn, sampledTest } from '../support/sampled-test.ts';
import { printedSeed, sampled } from '../support/sampling.ts';

const always = inTurn('git-symrefs');
const test = sampledTest('git-symrefs', 3);

/** Names of branches that a shell could take for a command. */
const ODD = `'a$(touch~owned)'`.replace('~', '');

/** Some of them, others each time; all of them in `npm run test:long`. */
const CHANGES = [
  ['becomes a branch of its own', 'git symbolic-ref -d refs/heads/alias; git branch alias HEAD~1'],
  ['is deleted', 'git symbolic-ref -d refs/heads/alias'],
  ['names another', 'git symbolic-ref refs/heads/alias refs/heads/other'],
  ['names nothing any more', 'git checkout -q other; git branch -D real'],
  ['names what was never there', 'git symbolic-ref refs/heads/alias refs/heads/nowhere'],
  ['stays, and what it names moves', 'git checkout -q real; git commit -q --allow-empty -m moved'],
  [
    'is joined by one where a branch was',
    'git branch -D other; git symbolic-ref refs/heads/other refs/heads/real',
  ],
  [
    'is joined by one with an odd name',
    `git symbolic-ref refs/heads/${ODD} refs/heads/real; git branch ${ODD}2`,
  ],
] as const;

always.each(sampled(CHANGES, { every: 4, offset: printedSeed('symrefs'), minimum: 2 }))(
  'an alias that %s comes back, and so does what it became',
  async (_, change) => {
    await using harness = await withTwoFiles(['app']);
    harness.sh(
      `git commit -q --allow-empty -m two; git branch real; git branch other HEAD~1; git symbolic-ref refs/heads/alias refs/heads/real; git symbolic-ref refs/heads/void refs/heads/gone`,
      'app',
    );
    const before = world(harness, ['app']);
    expect(before.join('\n')).toContain('refs/heads/alias');
    const first = await harness.capture();
    expect(first.report.failures).toEqual([]);
    harness.sh(change, 'app');
    const after = world(harness, ['app']);
    const second = await harness.capture();
    expect(second.report.failures).toEqual([]);
    await applies(harness, first);
    expect(world(harness, ['app'])).toEqual(before);
    expect(harness.sh('git symbolic-ref refs/heads/void', 'app')).toBe('refs/heads/gone\n');
    await applies(harness, second);
    expect(world(harness, ['app'])).toEqual(after);
    // And where nothing is there yet.
    const report = await harness.rehydrate(first);
    expect([report.outcome, report.problems]).toEqual(['applied', []]);
    expect(world(harness, ['app'])).toEqual(before);
    expect(harness.sh('git symbolic-ref refs/heads/void', 'app')).toBe('refs/heads/gone\n');
  },
);

test('HEAD on an alias stays on it', async () => {
  await using harness = await withTwoFiles(['app']);
  harness.sh(
    'git symbolic-ref refs/heads/alias refs/heads/main; git symbolic-ref HEAD refs/heads/alias',
    'app',
  );
  const before = world(harness, ['app']);
  const first = await harness.capture();
  harness.sh('git checkout -q --detach; echo x > x; git add x; git commit -qm x', 'app');
  await applies(harness, first);
  expect(world(harness, ['app'])).toEqual(before);
});

test('a plan says what becomes of an alias, and counts no commits for it', async () => {
  await using harness = await withTwoFiles(['app']);
  harness.sh(
    `git commit -q --allow-empty -m two; git branch real; git branch moved; git symbolic-ref refs/heads/alias refs/heads/real; git symbolic-ref refs/heads/${ODD} refs/heads/real`,
    'app',
  );
  const tip = harness.sh('git rev-parse HEAD', 'app').trim();
  const first = await harness.capture();
  harness.sh(
    'git symbolic-ref -d refs/heads/alias; git branch alias; git commit -q --allow-empty -m three; git branch -f alias; git branch -D real; git branch -D moved; git symbolic-ref refs/heads/moved refs/heads/main; git symbolic-ref refs/heads/new refs/heads/main',
    'app',
  );
  const now = harness.sh('git rev-parse HEAD', 'app').trim();
  const { report } = await harness.rollback(first, { dryRun: true });
  expect(report.repositories[0]?.host?.branches).toEqual([
    { name: 'alias', from: now, to: 'refs/heads/real', commitsLeft: 1 },
    { name: 'main', from: now, to: tip, commitsLeft: 1 },
    { name: 'moved', from: 'refs/heads/main', to: tip, commitsLeft: 0 },
    { name: 'new', from: 'refs/heads/main', to: null, commitsLeft: 0 },
    { name: 'real', from: null, to: tip, commitsLeft: 0 },
  ]);
  expect(hostLines(report.repositories[0]?.host)).toEqual(
    expect.arrayContaining([
      `branch alias: ${now.slice(0, 9)} to an alias of real; 1 commit left behind`,
      'branch new goes',
    ]),
  );
  const back = await harness.rollback(first);
  const again = await harness.rollback(back.undo, { dryRun: true });
  expect(hostLines(again.report.repositories[0]?.host)).toContain('branch new comes, an alias of main');
});

describe('HEAD on a ref that is no branch', () => {
  const BEGIN = 'git update-ref refs/remotes/origin/x HEAD; git symbolic-ref HEAD refs/remotes/origin/x';
  const heads = (harness: Harness) =>
    harness.sh('cat .git/HEAD; git for-each-ref --format="%(refname) %(subject)"; git status --short', 'app');

  test.for([
    ['HEAD went elsewhere', 'git checkout -q -B other; echo 2 > a.txt; git commit -qam two'],
    ['it moved', 'echo 2 > a.txt; git commit -qam two; git commit -q --allow-empty -m three'],
    ['it is gone', 'git checkout -q main; git update-ref -d refs/remotes/origin/x'],
  ])('%s: it comes back, and so does what it became', async ([, change]) => {
    await using harness = await withTwoFiles(['app']);
    harness.sh(BEGIN, 'app');
    const first = await harness.capture();
    expect(first.report.failures).toEqual([]);
    const before = heads(harness);
    harness.sh(change, 'app');
    const after = heads(harness);
    const moved = change.includes('three');
    const plan = (await harness.rollback(first, { dryRun: true })).report;
    const { undo, report } = await applies(harness, first);
    expect(heads(harness)).toBe(before);
    expect(plan.repositories).toMatchObject([{ host: report.repositories[0]?.host }]);
    if (moved)
      expect(report.repositories[0]?.host?.branches).toMatchObject([
        { name: 'refs/remotes/origin/x', commitsLeft: 2 },
      ]);
    await applies(harness, undo);
    if (!change.includes('-d ')) expect(heads(harness)).toBe(after);
  });

  test('it is made in a fresh sandbox', async () => {
    await using harness = await withTwoFiles(['app']);
    harness.sh(BEGIN, 'app');
    const first = await harness.capture();
    const before = heads(harness);
    const report = await harness.rehydrate(first);
    expect([report.outcome, report.problems]).toEqual(['applied', []]);
    expect(heads(harness)).toBe(before);
  });

  test('one that was unborn goes again, and one that no checkpoint holds is named before it moves', async () => {
    await using harness = await withTwoFiles(['app']);
    harness.sh('git symbolic-ref HEAD refs/foo/bar', 'app');
    const first = await harness.capture();
    harness.sh('git commit -qm born', 'app');
    const second = await harness.capture();
    await applies(harness, first);
    expect(harness.sh('git for-each-ref refs/foo', 'app')).toBe('');
    await applies(harness, second);
    const [was, now] = harness
      .sh(
        'git rev-parse refs/foo/bar; git checkout -q main; git update-ref refs/foo/bar main; git rev-parse main',
        'app',
      )
      .trim()
      .split('\n');
    const said = [
      `app: refs/foo/bar goes from ${now} to ${was}, because HEAD stood on it; no checkpoint holds where it is now`,
    ];
    expect((await harness.rollback(second, { dryRun: true })).report.warnings).toEqual(said);
    expect((await applies(harness, second)).report.warnings).toEqual(said);
  });
});

/** As core.preferSymlinkRefs makes it, and git did long ago. */
describe('HEAD that is a symlink', () => {
  const LINK = 'rm .git/HEAD; ln -s refs/heads/main .git/HEAD';

  /** As git says it: what comes back is a file. */
  const seen = (harness: Harness) => [
    ...files(harness.root),
    harness.sh(
      "git symbolic-ref HEAD; git for-each-ref --format='%(objectname) %(refname) %(symref)' refs/heads; git status --porcelain",
      'app',
    ),
  ];

  test.for([
    ['of a branch with a file', LINK],
    ['of a packed branch', `git pack-refs --all; ${LINK}`],
    [
      'of a branch without commits',
      `${LINK}; git symbolic-ref HEAD refs/heads/new; rm .git/HEAD; ln -s refs/heads/new .git/HEAD`,
    ],
    ['beside a linked worktree', `git worktree add -q ../linked; ${LINK}`],
  ])('%s: git stands on the branch again, here and in a fresh sandbox', async ([, begin]) => {
    await using harness = await withTwoFiles(['app']);
    harness.sh(begin, 'app');
    const work = () => harness.sh('git checkout -q -b next; echo two > a.txt; git commit -qam two', 'app');
    const { looked, first } = await goesBackAndForth(harness, work, () => seen(harness));
    expect(first.report.failures).toEqual([]);
    await rebuilds(harness, first);
    expect(seen(harness)).toEqual(looked);
  });

  test('is made by a setting: a rollback comes from there, and goes there', async () => {
    await using harness = await withTwoFiles(['app']);
    const first = await harness.capture();
    const before = seen(harness);
    harness.sh('git config core.preferSymlinkRefs true; git checkout -q -b next; echo two > a.txt', 'app');
    expect(harness.sh('readlink .git/HEAD', 'app')).toBe('refs/heads/next\n');
    const after = seen(harness);
    const { undo } = await applies(harness, first);
    expect(seen(harness)).toEqual(before);
    await applies(harness, undo);
    expect(seen(harness)).toEqual(after);
  });
});
