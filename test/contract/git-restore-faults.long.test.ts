/** A larger part of the faults in `git-restore-faults.test.ts`: another one with each seed. FAULTS=all is every one. */
import { test } from 'vitest';
import { CHANGED, isPutBack, restoreFaults } from '../support/restore-faults.ts';

const IS_ALL = process.env['FAULTS'] === 'all';

for (const changed of CHANGED)
  test(
    `a restore of which any one command fails is at the target, or told: ${changed} changed`,
    { timeout: IS_ALL ? 7_200_000 : 1_200_000 },
    () => restoreFaults(IS_ALL ? Number.POSITIVE_INFINITY : 30, changed),
  );

test('ignored files that were captured because they are in the way do not stop the way back', () =>
  isPutBack('hidden', 'check-ignore'));
