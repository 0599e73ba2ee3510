/** The native program restores what the scripts restore: the same files, the same repositories, and it says the same of it. */
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { GIT_CASES, openCase, state } from '../support/git-cases.ts';
import { besideRestores } from '../support/git-native-restore.ts';
import { goesBackAndForth, withTwoFiles } from '../support/git-repositories.ts';
import { allGoBack, turns } from '../support/git-work.ts';
import { inTurn, longTest } from '../support/sampled-test.ts';
import { printedSeed, sampled } from '../support/sampling.ts';

const test = inTurn('git-native-restore');

describe('the native restore', () => {
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

  test('brings back one file that was changed', async () => {
    await using harness = await withTwoFiles(['app']);
    const first = await harness.capture();
    harness.sh('echo two > a.txt', 'app');
    const { report } = await harness.rollback(first);
    expect([report.outcome, report.problems]).toEqual(['applied', []]);
    expect(harness.sh('cat a.txt', 'app')).toBe('one\n');
    expect(besideRestores.native?.compared).toBe(1);
  });

  test.for(sampled(GIT_CASES, { every: 9, offset: printedSeed('native restores'), minimum: 4 }))(
    '$name',
    async ({ setup, damage, options, survives }) => {
      await using harness = await openCase({ setup, options });
      const work = () => harness.sh(damage, 'app');
      await goesBackAndForth(
        harness,
        work,
        () => state(harness, survives),
        () => state(harness),
      );
    },
  );

  longTest(
    'random work with git between checkpoints goes back to every one of them',
    { timeout: 3_600_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(turns({ minLength: 4, maxLength: 12 }), async (all) => {
          await allGoBack(all);
        }),
        { numRuns: 8, seed: printedSeed('native random work'), endOnFailure: true },
      );
    },
  );
});
