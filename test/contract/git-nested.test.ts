/** Repositories inside others, and ones of which only a part is there: how they leave and come back. */
import { expect, test } from 'vitest';
import { createHarness, type Harness, type Snapshot } from '../support/git-harness.ts';
import { withTwoFiles } from '../support/git-repositories.ts';

const INSIDE =
  'mkdir -p app/in/deep; cd app/in/deep; git init -q -b main .; echo n > n; mkdir d empty; echo d > d/f; git add .; git commit -qm n; echo later > n; chmod 600 d/f';

const goes = async (
  harness: Harness,
  target: Snapshot,
  flags: Parameters<Harness['rollback']>[1] = {},
): Promise<Snapshot> => {
  const { undo, report } = await harness.rollback(target, flags);
  expect([report.outcome, report.problems]).toEqual(['applied', []]);
  return undo;
};

test('with files alone, one that leaves keeps its .git, and the one around it moves', async () => {
  await using harness = await withTwoFiles(['app']);
  harness.sh('mkdir -p in/deep; echo old > in/deep/n; echo one > f', 'app');
  const first = await harness.capture();
  harness.sh(`${INSIDE}; echo two > ../../f`);
  const second = await harness.capture();
  const undo = await goes(harness, first, { filesOnly: true });
  expect(harness.sh('cat n; git log --format=%s', 'app/in/deep')).toBe('old\nn\n');
  await goes(harness, undo, { filesOnly: true });
  expect(harness.sh('cat n d/f', 'app/in/deep')).toBe('later\nd\n');
  await goes(harness, first);
  // Its directory is there without it, so files alone come back.
  await goes(harness, second, { filesOnly: true });
  expect(harness.sh('cat n d/f', 'app/in/deep')).toBe('later\nd\n');
});

test('one that was made among loose files goes with what it added, and leaves what their rules ignored', async () => {
  await using harness = await createHarness({ looseFiles: true });
  harness.sh('mkdir -p app/out; echo key > app/.gitignore; echo a > app/out/a; echo k > app/out/key');
  const first = await harness.capture();
  harness.sh('git init -q -b main .; echo n > n; git add n; git commit -qm n', 'app/out');
  const undo = await goes(harness, first);
  expect(harness.sh('ls -A', 'app/out')).toBe('a\nkey\n');
  await goes(harness, undo);
  expect(harness.sh('ls -A; git log --format=%s', 'app/out')).toBe('.agent-shadow\n.git\na\nkey\nn\nn\n');
});

/** What is left of it. */
const LEFT = {
  'only .agent-shadow': 'rm -rf .git n d empty',
  'only its .git': 'rm -rf .agent-shadow n d empty',
  'only its working files': 'rm -rf .git .agent-shadow',
};

test.for(Object.entries(LEFT))('of one inside another, %s is there: it comes back', async ([, damage]) => {
  await using harness = await withTwoFiles(['app']);
  harness.sh(INSIDE);
  const first = await harness.capture();
  harness.sh(`${damage}; echo two > ../../b.txt`, 'app/in/deep');
  const undo = await goes(harness, first);
  expect(harness.sh('cat n d/f; git log --format=%s; stat -c %a d/f', 'app/in/deep')).toBe(
    'later\nd\nn\n600\n',
  );
  await goes(harness, undo);
});
