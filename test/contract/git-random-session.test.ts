/** Every checkpoint of a session restores, whatever its content did: a sample here, more in git-random-session.long.test.ts. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { allRestore, edits, SMALL_LIMITS } from '../support/random-session.ts';
import { chosenSeed } from '../support/sampling.ts';

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
