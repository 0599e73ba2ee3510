/** Any command of a restore may fail, in any way: nothing is lost, what happened is told, and the next call arrives. */
import { test } from 'vitest';
import { restoreFaults } from '../support/restore-faults.ts';

for (const changed of ['everything', 'contents', 'returning'] as const)
  test(
    `a restore of which any one command fails is at the target, or told: ${changed} changed`,
    {
      timeout: 600_000,
    },
    () => restoreFaults(changed === 'everything' ? 2 : 1, changed),
  );
