/** Every checkpoint of a session restores, whatever its content did: a sample here, long ones, also with the limits of a release, in `npm run test:long`. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { allRestore, edits, SMALL_LIMITS } from '../support/random-session.ts';
import { longTest } from '../support/sampled-test.ts';
import { chosenSeed } from '../support/sampling.ts';

const RUNS = Number(process.env['RUNS'] ?? 1);

test('every checkpoint of a random session restores, with links of all sizes', async () => {
  const seed = chosenSeed();
  process.stdout.write(`git-random-session: SEED=${seed}\n`);
  const sizes: number[] = [];
  await fc.assert(
    fc.asyncProperty(edits({ minLength: 6, maxLength: 7 }), async (all) => {
      sizes.push(...(await allRestore(all, SMALL_LIMITS)));
    }),
    { seed, numRuns: 1, endOnFailure: true },
  );
  expect(sizes.length).toBeGreaterThan(2);
});

longTest.each([
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
