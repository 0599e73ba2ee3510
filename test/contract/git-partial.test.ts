/** A partial clone with a partial checkout: what it never had it need not have when it comes back. */
import { expect, test } from 'vitest';
import { createHarness } from '../support/git-harness.ts';
import { applies, world } from '../support/git-repositories.ts';

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
  for (const [snapshot, looks] of [
    [first, before],
    [second, after],
  ] as const) {
    const report = await harness.rehydrate(snapshot);
    expect([report.outcome, report.problems]).toEqual(['applied', []]);
    expect(world(harness, ['app'])).toEqual(looks);
  }
});
