/** A partial clone with a partial checkout: what it never had it need not have when it comes back. */
import { expect } from 'vitest';
import { createHarness, type Harness, type Snapshot } from '../support/git-harness.ts';
import { applies, rebuilds, world } from '../support/git-repositories.ts';
import { sampledTest } from '../support/sampled-test.ts';

const test = sampledTest('git-partial', 4);

const rebuildsEach = async (harness: Harness, ...states: [Snapshot, string[]][]): Promise<void> => {
  for (const [snapshot, looks] of states) {
    await rebuilds(harness, snapshot);
    expect(world(harness, ['app'])).toEqual(looks);
  }
};

test('a partial clone with a partial checkout', async () => {
  await using harness = await createHarness();
  harness.sh(
    `git init -q -b main ../origin; cd ../origin; git config uploadpack.allowFilter true; git config uploadpack.allowAnySHA1InWant true
mkdir in out; echo in > in/f; echo out > out/f; echo top > top; git add -A; git commit -qm one; echo two > out/f; git commit -qam two
git clone -q --filter=blob:none --sparse "file://$PWD" ../projects/app; cd ../projects/app; git sparse-checkout set in`,
  );
  const before = world(harness, ['app']);
  const first = await harness.capture();
  expect(first.report.failures).toEqual([]);
  harness.sh('echo mine > in/f; echo new > new; git add new; git commit -qm mine', 'app');
  const after = world(harness, ['app']);
  const second = await harness.capture();
  await applies(harness, first);
  expect(world(harness, ['app'])).toEqual(before);
  await applies(harness, second);
  expect(world(harness, ['app'])).toEqual(after);
  await rebuildsEach(harness, [first, before], [second, after]);
});

/** What an agent does in a partial clone that makes git fetch what the first bundle could not hold. */
const FETCHES = [
  ['an older commit', '--filter=blob:none', 'git checkout -q HEAD~2'],
  ['an older commit of a clone without trees', '--filter=tree:0', 'git checkout -q HEAD~2'],
  ['a file of an older commit', '--filter=blob:none', 'git checkout -q HEAD~2 -- a/f'],
  ['more of a partial checkout', '--filter=blob:none --sparse', 'git sparse-checkout add a'],
] as const;

test.for(FETCHES)(
  'what a partial clone fetches after its first capture comes back: %s',
  async ([, filter, work]) => {
    await using harness = await createHarness();
    harness.sh(
      `git init -q -b main ../origin; cd ../origin; git config uploadpack.allowFilter true; git config uploadpack.allowAnySHA1InWant true
mkdir a b; for i in 1 2 3 4; do echo $i > a/f; echo b$i > b/f; git add -A; git commit -qm $i; done
git clone -q ${filter} "file://$PWD" ../projects/app`,
    );
    const before = world(harness, ['app']);
    const first = await harness.capture();
    harness.sh(work, 'app');
    const after = world(harness, ['app']);
    const second = await harness.capture();
    expect([first.report.failures, second.report.failures]).toEqual([[], []]);
    await rebuildsEach(harness, [first, before], [second, after]);
  },
);

test('two partial clones of one commit that lack different things each bring a base of their own', async () => {
  await using harness = await createHarness();
  harness.sh(
    `git init -q -b main ../origin; cd ../origin; git config uploadpack.allowFilter true
mkdir a b; echo a > a/f; echo b > b/f; git add -A; git commit -qm one
git clone -q --filter=blob:none "file://$PWD" ../projects/one; git clone -q --filter=blob:none --sparse "file://$PWD" ../projects/two`,
  );
  const { repositories } = (await harness.capture()).report;
  expect(new Set(repositories.map(({ base }) => base)).size).toBe(2);
});

test('a commit of a partial clone that git pruned comes back, where its trees are all there', async () => {
  await using harness = await createHarness();
  harness.sh(
    `git init -q -b main ../origin; cd ../origin; git config uploadpack.allowFilter true; echo one > f; git add f; git commit -qm one
git clone -q --filter=blob:none "file://$PWD" ../projects/app; cd ../projects/app; git commit -q --allow-empty -m two`,
  );
  const before = world(harness, ['app']);
  const two = await harness.capture();
  harness.sh(
    'git reset -q --hard HEAD~1; rm .git/ORIG_HEAD; git reflog expire --expire=now --all; git prune --expire=now',
    'app',
  );
  await applies(harness, two);
  expect(world(harness, ['app'])).toEqual(before);
});
