/** The sandbox program sees in many random states what plain git sees, and its stat table never hides a change. */
import { expect, test } from 'vitest';
import { statesAreAsGitSees, workTurns } from '../support/git-states.ts';
import { meanOfRuns } from '../support/random-runs.ts';

test('every random state has the tree that git gives it', async () => {
  const all = workTurns({ minLength: 40, maxLength: 60 });
  expect(await meanOfRuns('git-states', 20, all, statesAreAsGitSees)).toBeGreaterThan(15);
});
