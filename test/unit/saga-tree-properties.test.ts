/** Any tree of plans, and anything that happens to it: all done, all undone, or residue that a repair takes away. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { happenings, planOf, stepsAt } from '../support/random-trees.ts';
import { printedSeed, WHOLE } from '../support/sampling.ts';
import { runRandomTree } from '../support/tree-matrix.ts';

test('every tree ends, and a repair leaves nothing behind', async () => {
  const seed = printedSeed('saga-tree-properties');
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(stepsAt(2), happenings, fc.boolean(), async (steps, drawn, replay) => {
      await runRandomTree(planOf(steps), drawn, replay);
      runs += 1;
    }),
    { seed, numRuns: WHOLE ? 1500 : 60, endOnFailure: !WHOLE },
  );
  expect(runs).toBeGreaterThan(50);
}, 1_500_000);
