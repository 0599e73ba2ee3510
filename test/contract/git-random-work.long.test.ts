/** Random work of an agent with git, and back to each of its checkpoints. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { allGoBack, turns } from '../support/git-work.ts';
import { chosenSeed } from '../support/sampling.ts';

const RUNS = Number(process.env['RUNS'] ?? 4);

test('every checkpoint of random work goes back exactly, from wherever the work stands', async () => {
  const seed = chosenSeed();
  process.stdout.write(`git-random-work: SEED=${seed} RUNS=${RUNS}\n`);
  let times = 0;
  await fc.assert(
    fc.asyncProperty(turns({ minLength: 12, maxLength: 20 }), async (all) => {
      times += await allGoBack(all);
    }),
    { seed, numRuns: RUNS, endOnFailure: process.env['SHRINK'] !== '1' },
  );
  expect(times).toBeGreaterThan(8 * RUNS);
});
