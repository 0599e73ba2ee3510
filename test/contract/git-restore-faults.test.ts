/**
 * Any command of a restore may fail, in any way: nothing is lost, what happened is told, and the next call arrives. A few
 * faults here, more in `npm run test:long`, others each time. There FAULTS=all is every one.
 */
import { CHANGED, isPutBack, restoreFaults } from '../support/restore-faults.ts';
import { sampledTest } from '../support/sampled-test.ts';
import { WHOLE } from '../support/sampling.ts';

const test = sampledTest('git-restore-faults', 2);
const IS_ALL = process.env['FAULTS'] === 'all';

const faultsOf = (changed: (typeof CHANGED)[number]): number => {
  if (WHOLE) return IS_ALL ? Number.POSITIVE_INFINITY : 30;
  return changed === 'everything' ? 2 : 1;
};

for (const changed of CHANGED)
  test(
    `a restore of which any one command fails is at the target, or told: ${changed} changed`,
    () => restoreFaults(faultsOf(changed), changed),
    { timeout: IS_ALL ? 7_200_000 : 1_200_000 },
  );

test('ignored files that were captured because they are in the way do not stop the way back', () =>
  isPutBack('hidden', 'update-ref'));

test('branches that cannot be moved in one repository put all of them back', () =>
  isPutBack('staying', 'update-ref'));
