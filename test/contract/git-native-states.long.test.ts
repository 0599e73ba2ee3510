/** The native program sees in many random states what plain git sees, and its stat table never hides a change. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { besideCaptures, nativeProgram } from '../support/git-native.ts';
import { statesAreAsGitSees, workTurns } from '../support/native-states.ts';
import { chosenSeed } from '../support/sampling.ts';

const RUNS = Number(process.env['RUNS'] ?? 20);

test('every random state has the tree that git gives it', async () => {
  const seed = chosenSeed();
  process.stdout.write(`git-native-states: SEED=${seed} RUNS=${RUNS}\n`);
  const program = besideCaptures.native?.program ?? nativeProgram();
  let states = 0;
  await fc.assert(
    fc.asyncProperty(workTurns({ minLength: 40, maxLength: 60 }), async (all) => {
      states += await statesAreAsGitSees({ program }, all);
    }),
    { seed, numRuns: RUNS, endOnFailure: process.env['SHRINK'] !== '1' },
  );
  process.stdout.write(`git-native-states: ${states} states compared\n`);
  expect(states).toBeGreaterThan(15 * RUNS);
});
