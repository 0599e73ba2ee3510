/** A larger part of the faults in `git-restore-faults.test.ts`: another one with each seed. FAULTS=all is every one. */
import { test } from 'vitest';
import { restoreFaults } from '../support/restore-faults.ts';

const COUNT = process.env['FAULTS'] === 'all' ? Number.POSITIVE_INFINITY : 120;

test(
  'a restore of which any one command fails is at the target, or told',
  {
    timeout: 7_200_000,
  },
  () => restoreFaults(COUNT),
);
