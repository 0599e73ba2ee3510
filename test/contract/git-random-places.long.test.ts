/** Random repositories, links, worktrees and modes in each other's places, and ways to other states of them. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { placesTurns } from '../support/places-turns.ts';
import { placesAreKept } from '../support/places-work.ts';
import { chosenSeed } from '../support/sampling.ts';

const RUNS = Number(process.env['RUNS'] ?? 6);

test('no way to another state touches what no checkpoint holds, and each is undone exactly', async () => {
  const seed = chosenSeed();
  process.stdout.write(`git-random-places: SEED=${seed} RUNS=${RUNS}\n`);
  let times = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('whole', 'partial'),
      placesTurns({ minLength: 10, maxLength: 20 }),
      async (clone, all) => {
        times += await placesAreKept(clone, all);
      },
    ),
    { seed, numRuns: RUNS, endOnFailure: process.env['SHRINK'] !== '1' },
  );
  expect(times).toBeGreaterThan(RUNS);
});
