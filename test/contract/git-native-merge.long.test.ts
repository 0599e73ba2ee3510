/** The native program composes what the scripts compose: the laws of merges, and random histories whatever conflicts they have. */
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { besideComposes, countedComposes } from '../support/git-native-compose.ts';
import { generated, lawsHold } from '../support/merge-laws.ts';
import { composedByBoth, histories } from '../support/native-compositions.ts';
import { BUILT, canBuildNext } from '../support/next-program.ts';
import { meanOfRuns } from '../support/random-runs.ts';
import { printedSeed } from '../support/sampling.ts';

describe.runIf(canBuildNext())('the native merge', () => {
  beforeAll(...BUILT);
  beforeAll(() => {
    besideComposes.native = new Map();
  });
  afterAll(() => {
    process.stdout.write(countedComposes());
    delete besideComposes.native;
  });

  test('keeps the laws of merges', async () => {
    const seed = printedSeed('native merge laws');
    await fc.assert(fc.asyncProperty(generated, lawsHold), { seed, numRuns: 3, endOnFailure: true });
    expect(besideComposes.native?.get('compared')).toBeGreaterThan(0);
  });

  test('composes random states of random histories as the scripts do', async () => {
    const mean = await meanOfRuns('git-native-merge', 20, histories, composedByBoth);
    expect(mean).toBeGreaterThan(6);
  });
});
