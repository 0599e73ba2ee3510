/**
 * Settings of one worktree alone (`config.worktree`) count where `extensions.worktreeConfig` says so, and nowhere else. Git turns that
 * on with each partial checkout, and moves `core.bare` of a bare repository there. A setting is known by its whole name.
 */
import { expect } from 'vitest';
import { createHarness } from '../support/git-harness.ts';
import { applies, text, withTwoFiles, world } from '../support/git-repositories.ts';
import { inTurn } from '../support/sampled-test.ts';

const test = inTurn('git-worktree-settings');

const BARE = `mkdir ../made; cd ../made; git init -q -b main .; mkdir in out; echo in > in/f; echo out > out/f; git add -A; git commit -qm one
git clone -q --bare . ../bare.git; git -C ../bare.git worktree add -q "$OLDPWD/app" main`;

test('the branch of a partial checkout of a bare repository goes back', async () => {
  await using harness = await createHarness();
  harness.sh(
    `${BARE}; cd "$OLDPWD/app"; git sparse-checkout set --cone in; ! grep bare ../../bare.git/config`,
  );
  const before = world(harness, ['app']);
  const first = await harness.capture();
  harness.sh('echo two > in/f; git commit -qam two', 'app');
  const after = world(harness, ['app']);
  const { report, undo } = await applies(harness, first);
  expect(report.warnings).toEqual([]);
  expect(world(harness, ['app'])).toEqual(before);
  await applies(harness, undo);
  expect(world(harness, ['app'])).toEqual(after);
});

test.for([
  ['on', 'the agent wrote'],
  ['off', 'there before'],
] as const)('ignore rules that a worktree names are those of git: %s', async ([on, left]) => {
  await using harness = await withTwoFiles(['app']);
  harness.sh(
    `git config extensions.worktreeConfig ${on}; echo '*.env' > ../../rules; git config --file .git/config.worktree core.excludesFile "$PWD/../../rules"; echo there before > s.env`,
    'app',
  );
  const first = await harness.capture();
  harness.sh('echo the agent wrote > s.env', 'app');
  await applies(harness, first);
  expect(text(harness, 'app/s.env')).toBe(`${left}\n`);
});

test('rules of a partial checkout are turned off where git reads them', async () => {
  await using harness = await withTwoFiles(['app']);
  harness.sh('git config --file .git/config.worktree core.abbrev 9', 'app');
  const before = world(harness, ['app']);
  const first = await harness.capture();
  harness.sh(
    'git config core.sparseCheckout true; echo /a.txt > .git/info/sparse-checkout; git read-tree -mu HEAD',
    'app',
  );
  await applies(harness, first);
  expect(world(harness, ['app'])).toEqual(before);
  expect(harness.sh('git config --type=bool core.sparseCheckout', 'app')).toBe('false\n');
});

test.for([
  'git config init.defaultObjectFormat sha256',
  "printf '[extensions]\\n\\t# objectFormat = sha256\\n' >> .git/config",
])('a setting that is not that of the object format: %s', async (set) => {
  await using harness = await withTwoFiles(['app']);
  harness.sh(set, 'app');
  const before = world(harness, ['app']);
  const first = await harness.capture();
  expect(first.report.failures).toEqual([]);
  harness.sh('echo two > a.txt; git commit -qam two; echo three > a.txt', 'app');
  await applies(harness, first);
  expect(world(harness, ['app'])).toEqual(before);
});
