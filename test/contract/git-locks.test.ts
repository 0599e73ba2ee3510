/** Locks of the agent's git: one that a killed git left is removed, one that a live git may hold stops a rollback. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { expect } from 'vitest';
import { applies, withTwoFiles, world } from '../support/git-repositories.ts';
import { sampledTest } from '../support/sampled-test.ts';

/** A third of them, others each time. */
const test = sampledTest('git-locks', 3);

/** Two branches move, one is deleted and one is made, HEAD and the index with them, so that git needs every lock. */
const MOVES =
  'git checkout -qb new; echo more > more; git add more; git commit -qm more; git branch -qD gone; git branch -qf side HEAD; echo staged > staged; git add staged';

const LOCKS = ['.git/HEAD.lock', '.git/packed-refs.lock', '.git/refs/heads/side.lock', '.git/index.lock'];

const withBranches = async () => {
  const harness = await withTwoFiles(['app']);
  harness.sh('git branch side; git branch gone; git branch of/folder; git pack-refs --all', 'app');
  return harness;
};

/** Does something while a git waits for its input in a directory, as one that is at work there. */
const besideGit = async (directory: string, act: () => Promise<void>): Promise<void> => {
  const git = spawn('git', ['cat-file', '--batch-check'], {
    cwd: directory,
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  git.stdin.write('HEAD\n');
  await once(git.stdout, 'data');
  try {
    await act();
  } finally {
    git.stdin.end();
    await once(git, 'exit');
  }
};

test.for([LOCKS.join(' '), ...LOCKS])('a rollback gets past %s, which a killed git left', async (locks) => {
  await using harness = await withBranches();
  const before = world(harness, ['app']);
  const first = await harness.capture();
  harness.sh(MOVES, 'app');
  const after = world(harness, ['app']);
  harness.sh(`touch ${locks}`, 'app');
  const { undo } = await applies(harness, first);
  expect(world(harness, ['app'])).toEqual(before);
  harness.sh(`touch ${locks}`, 'app');
  await applies(harness, undo);
  expect(world(harness, ['app'])).toEqual(after);
});

test.for(LOCKS)('a rollback leaves %s to a live git, and changes nothing', async (lock) => {
  await using harness = await withBranches();
  const first = await harness.capture();
  harness.sh(MOVES, 'app');
  harness.sh(`touch ${lock}`, 'app');
  const before = world(harness, ['app']);
  await besideGit(`${harness.root}/app/src`, async () => {
    const { report } = await harness.rollback(first);
    expect(report.outcome).toBe('reverted');
    expect(JSON.stringify(report)).toMatch(/lock|File exists/);
    expect(existsSync(`${harness.root}/app/${lock}`)).toBe(true);
    expect(world(harness, ['app'])).toEqual(before);
  });
  await applies(harness, first);
});

test.for(['absolute', 'relative'])(
  'a git in a linked worktree (%s path) may hold the lock of a branch',
  async (path) => {
    await using harness = await withBranches();
    harness.sh('git worktree add -q ../linked side', 'app');
    if (path === 'relative') harness.sh('echo ../../../../linked/.git > .git/worktrees/linked/gitdir', 'app');
    const first = await harness.capture();
    harness.sh('git branch -qD gone; git branch -q other; touch .git/packed-refs.lock', 'app');
    await besideGit(`${harness.root}/linked`, async () => {
      expect((await harness.rollback(first)).report.outcome).toBe('reverted');
      expect(existsSync(`${harness.root}/app/.git/packed-refs.lock`)).toBe(true);
    });
    await applies(harness, first);
  },
);

test('the git of the same rollback, at work in repositories inside it, holds no lock of the one around them', async () => {
  const inner = ['app/a', 'app/b', 'app/c', 'app/d', 'app/e', 'app/f'];
  await using harness = await withTwoFiles(['app', ...inner]);
  const names = ['app', ...inner];
  const before = world(harness, names);
  const first = await harness.capture();
  for (const name of names)
    harness.sh(
      'for i in 1 2 3 4 5 6 7 8 9; do echo $i > f$i; git add f$i; git commit -qm $i; git branch b$i; done',
      name,
    );
  harness.sh('touch .git/index.lock .git/HEAD.lock .git/refs/heads/main.lock', 'app');
  await applies(harness, first);
  expect(world(harness, names)).toEqual(before);
});
