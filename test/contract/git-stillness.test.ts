/** A restore of little asks whether anything happened since the capture by one walk. The walk never says so wrongly. */
import { test } from 'vitest';
import { printedSeed } from '../support/sampling.ts';
import { looksAreHeldAgainstGit } from '../support/stillness.ts';

test(
  'what the walk calls still, git finds unchanged, whenever another process writes',
  {
    timeout: 300_000,
  },
  () => looksAreHeldAgainstGit(24, printedSeed('stillness')),
);
