/**
 * Agents keep linked worktrees and clones in directories that the repository around them ignores (`.worktrees/`). What such a
 * repository captured as its own goes with it and comes back with it. Only what was in no capture stays.
 */
import { expect } from 'vitest';
import { files } from '../support/fingerprint.ts';
import type { Harness } from '../support/git-harness.ts';
import { applies, withRepositories, world } from '../support/git-repositories.ts';
import { inTurn } from '../support/sampled-test.ts';

const test = inTurn('git-ignored-worktrees');

const FEAT = 'app/.worktrees/feat';
const IGNORING =
  "echo .worktrees > .gitignore; echo '*.log' >> .gitignore; git add -A; git commit -qm ignore";
const WORK = 'echo w > w; git add w; git commit -qm w; echo dirty > w; echo new > new; mkdir empty';
const MADE = {
  'a linked worktree': 'git worktree add -qb feat .worktrees/feat',
  'a clone': 'git clone -q . .worktrees/feat',
  'a submodule':
    'git -c protocol.file.allow=always submodule --quiet add -f "$PWD/../lib" .worktrees/feat; git config protocol.file.allow always',
};

const begun = async () => {
  const harness = await withRepositories(['app', 'lib']);
  harness.sh(IGNORING, 'app');
  return harness;
};
const worktrees = (harness: Harness): string => harness.sh('git worktree list --porcelain', 'app');

test.for(Object.entries(MADE))('%s goes and comes back, and goes with an undo', async ([, make]) => {
  await using harness = await begun();
  const before = world(harness, ['app', 'lib']);
  const listed = worktrees(harness);
  const first = await harness.capture();
  harness.sh(make, 'app');
  harness.sh(WORK, FEAT);
  const after = world(harness, ['app', 'lib', FEAT]);
  const listedAfter = worktrees(harness);
  const second = await harness.capture();
  expect(second.repositories.map(({ path }) => path)).toContain(FEAT);
  const { undo, report } = await applies(harness, first);
  expect(report.warnings.filter((text) => text.includes('stay'))).toEqual([]);
  expect(world(harness, ['app', 'lib'])).toEqual(before);
  expect(worktrees(harness)).toBe(listed);
  for (const [target, state, list] of [
    [undo, after, listedAfter],
    [first, before, listed],
    [second, after, listedAfter],
  ] as const) {
    await applies(harness, target);
    expect(world(harness, state === after ? ['app', 'lib', FEAT] : ['app', 'lib'])).toEqual(state);
    expect(worktrees(harness)).toBe(list);
  }
});

test('after a rollback the agent makes the worktree again, works there, and both come back', async () => {
  await using harness = await begun();
  const first = await harness.capture();
  harness.sh(MADE['a linked worktree'], 'app');
  harness.sh(WORK, FEAT);
  const after = world(harness, ['app', FEAT]);
  const second = await harness.capture();
  await applies(harness, first);
  harness.sh(MADE['a linked worktree'], 'app');
  harness.sh('echo other > f.txt; echo more > more', FEAT);
  const again = world(harness, ['app', FEAT]);
  const { undo } = await applies(harness, second);
  expect(world(harness, ['app', FEAT])).toEqual(after);
  await applies(harness, undo);
  expect(world(harness, ['app', FEAT])).toEqual(again);
});

test('one that git removed comes back as a repository of its own, and an undo takes it away', async () => {
  await using harness = await begun();
  const first = await harness.capture();
  const before = world(harness, ['app']);
  harness.sh(MADE['a linked worktree'], 'app');
  harness.sh(WORK, FEAT);
  const made = files(harness.root);
  const second = await harness.capture();
  harness.sh(
    'git worktree remove --force .worktrees/feat; rmdir .worktrees; git branch -qD feat; echo 2 > f.txt; git commit -qam 2',
    'app',
  );
  const third = world(harness, ['app']);
  const { undo } = await applies(harness, second);
  expect(files(harness.root)).toEqual(made);
  expect(harness.sh('git status --porcelain; git log --format=%s', FEAT)).toBe(
    ' M w\n?? new\nw\nignore\none\n',
  );
  await applies(harness, undo);
  expect(world(harness, ['app'])).toEqual(third);
  await applies(harness, first);
  expect(world(harness, ['app'])).toEqual(before);
});

test('what was in no capture stays: a file that the worktree ignores', async () => {
  await using harness = await begun();
  const first = await harness.capture();
  const before = files(harness.root, { directories: false });
  harness.sh(MADE['a linked worktree'], 'app');
  harness.sh(`${WORK}; echo log > run.log`, FEAT);
  await harness.capture();
  await applies(harness, first);
  expect(files(harness.root, { directories: false }).filter((line) => !before.includes(line))).toEqual([
    expect.stringContaining(`${FEAT}/run.log`),
  ]);
});

test('the repository and its worktree go together, and come back together', async () => {
  await using harness = await withRepositories(['lib']);
  const first = await harness.capture();
  harness.sh(
    `mkdir app; cd app; git init -q -b main; ${IGNORING}; ${MADE['a linked worktree']}; git worktree add -qb side ../side`,
  );
  harness.sh(WORK, FEAT);
  const paths = ['app', 'lib', 'side', FEAT];
  const after = [world(harness, paths), worktrees(harness)];
  await harness.capture();
  const { undo } = await applies(harness, first);
  await applies(harness, undo);
  expect([world(harness, paths), worktrees(harness)]).toEqual(after);
});
