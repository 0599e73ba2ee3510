/** Long random sessions in which every checkpoint is restored: with limits that small content crosses, and with those of a release. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { allRestore, edits, SMALL_LIMITS } from '../support/random-session.ts';
import { chosenSeed } from '../support/sampling.ts';

const RUNS = Number(process.env['RUNS'] ?? 1);

test.each([
  ['with small limits', SMALL_LIMITS],
  ['with the limits of a release', {}],
])('every checkpoint of a long random session restores, %s', async (_which, limits) => {
  const seed = chosenSeed();
  process.stdout.write(`git-random-session: SEED=${seed} RUNS=${RUNS}\n`);
  const sizes: number[] = [];
  await fc.assert(
    fc.asyncProperty(edits({ minLength: 28, maxLength: 32 }), async (all) => {
      sizes.push(...(await allRestore(all, limits)));
    }),
    { seed, numRuns: RUNS, endOnFailure: true },
  );
  expect(sizes.length).toBeGreaterThan(15 * RUNS);
});
