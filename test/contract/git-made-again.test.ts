/** What is gone before a rollback is made again from what is left, or brought: half of all objects, a .git, a whole repository. */
import { expect } from 'vitest';
import { createHarness } from '../support/git-harness.ts';
import { goesBackAndForth, world } from '../support/git-repositories.ts';
import { inTurn } from '../support/sampled-test.ts';
import { printedSeed, sampled } from '../support/sampling.ts';

const test = inTurn('git-made-again');

const SEED = printedSeed('lost objects of a restore');
const SEEDS = Array.from({ length: 12 }, (_, index) => SEED + index);

test.for(sampled(SEEDS, { every: 6, offset: SEED }))(
  'what the files and the store have is made and brought again, seed %i',
  async (seed) => {
    await using harness = await createHarness();
    harness.sh(
      'git init -q -b main app; cd app; mkdir -p d/e; for i in 1 2 3; do echo $i | tee f$i d/f$i d/e/f$i; done; git add -A; git commit -qm one',
    );
    const states = [];
    for (const change of [':', 'echo 2 > f1; mkdir empty', 'echo 3 > d/f1; chmod 700 d/f2; git add d/f1']) {
      harness.sh(change, 'app');
      states.push({ snapshot: await harness.capture(), looks: world(harness, ['app']) });
    }
    for (const { snapshot, looks } of states) {
      harness.sh(
        `RANDOM=${seed % 32_768}; for file in .agent-shadow/session-s1/objects/??/*; do [ $((RANDOM % 2)) = 0 ] || rm -f "$file"; done; :`,
        'app',
      );
      const { report } = await harness.rollback(snapshot);
      expect([report.outcome, report.problems]).toEqual(['applied', []]);
      expect(world(harness, ['app'])).toEqual(looks);
    }
  },
);

test('a .git that is gone is made again, and one that is new goes', async () => {
  await using harness = await createHarness();
  harness.sh('git init -q -b main app; cd app; echo a > a; git add -A; git commit -qm one; git branch side');
  await goesBackAndForth(harness, () => harness.sh('rm -rf .git; echo b > a', 'app'));
});

test('a repository of which nothing is left is made from its bundles', async () => {
  await using harness = await createHarness();
  harness.sh(
    'git init -q -b main app; cd app; mkdir d; echo a > d/a; git add -A; git commit -qm one; echo b > b',
  );
  const first = await harness.capture();
  const before = world(harness, ['app']);
  harness.sh('rm -rf app');
  const { report } = await harness.rollback(first);
  expect([report.outcome, report.problems]).toEqual(['applied', []]);
  expect(world(harness, ['app'])).toEqual(before);
});
