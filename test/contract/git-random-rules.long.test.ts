/** Random rules for ignored files, and ways back: whole, files only, some paths, reverts. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { nothingUnseenIsLost, rulesTurns } from '../support/rules-work.ts';
import { chosenSeed } from '../support/sampling.ts';

const RUNS = Number(process.env['RUNS'] ?? 6);

test('no way back deletes what a checkpoint may not have seen, and each is undone exactly', async () => {
  const seed = chosenSeed();
  process.stdout.write(`git-random-rules: SEED=${seed} RUNS=${RUNS}\n`);
  let times = 0;
  await fc.assert(
    fc.asyncProperty(rulesTurns({ minLength: 12, maxLength: 24 }), async (all) => {
      times += await nothingUnseenIsLost(all);
    }),
    { seed, numRuns: RUNS, endOnFailure: process.env['SHRINK'] !== '1' },
  );
  expect(times).toBeGreaterThan(2 * RUNS);
});
