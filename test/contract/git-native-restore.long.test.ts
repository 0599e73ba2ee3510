/** The native program brings back what agents do with git between checkpoints, in any order, as the scripts do. */
import * as fc from 'fast-check';
import { afterAll, beforeAll, test } from 'vitest';
import { besideRestores } from '../support/git-native-restore.ts';
import { allGoBack, turns } from '../support/git-work.ts';
import { printedSeed } from '../support/sampling.ts';

beforeAll(() => {
  besideRestores.native = { compared: 0, left: [] };
});
afterAll(() => {
  const { compared, left } = besideRestores.native ?? { compared: 0, left: [] };
  process.stdout.write(
    `git-native-restore: ${compared} restores compared, ${left.length} left to the scripts\n`,
  );
  delete besideRestores.native;
});

test('random work goes back to every checkpoint', { timeout: 3_600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(turns({ minLength: 4, maxLength: 12 }), async (all) => {
      await allGoBack(all);
    }),
    { numRuns: 8, seed: printedSeed('native random work'), endOnFailure: true },
  );
});
