/** Any command of a restore may fail, in any way: nothing is lost, what happened is told, and the next call arrives. */
import { test } from 'vitest';
import { isPutBack, restoreFaults } from '../support/restore-faults.ts';

for (const changed of ['everything', 'contents', 'hidden', 'returning'] as const)
  test(
    `a restore of which any one command fails is at the target, or told: ${changed} changed`,
    {
      timeout: 600_000,
    },
    () => restoreFaults(changed === 'everything' ? 2 : 1, changed),
  );

test('ignored files that were captured because they are in the way do not stop the way back', () =>
  isPutBack('hidden', 'check-ignore'));
