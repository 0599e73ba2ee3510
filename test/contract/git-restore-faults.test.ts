/** Any command of a restore may fail, in any way: nothing is lost, what happened is told, and the next call arrives. */
import { CHANGED, isPutBack, restoreFaults } from '../support/restore-faults.ts';
import { sampledTest } from '../support/sampled-test.ts';

const test = sampledTest('git-restore-faults', 2);

for (const changed of CHANGED)
  test(
    `a restore of which any one command fails is at the target, or told: ${changed} changed`,
    () => restoreFaults(changed === 'everything' ? 2 : 1, changed),
    { timeout: 600_000 },
  );

test('ignored files that were captured because they are in the way do not stop the way back', () =>
  isPutBack('hidden', 'check-ignore'));
