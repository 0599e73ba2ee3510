/** A restore of little asks whether anything happened since the capture by one walk. The walk never says so wrongly. */
import { inTurn } from '../support/sampled-test.ts';
import { printedSeed, WHOLE } from '../support/sampling.ts';
import { looksAreHeldAgainstGit, OBJECTS, REPORTED } from '../support/stillness.ts';

const test = inTurn('git-stillness');

test(
  'what the walk calls still, git finds unchanged, whenever another process writes',
  {
    timeout: 1_200_000,
  },
  () => looksAreHeldAgainstGit(WHOLE ? 500 : 16, printedSeed('stillness')),
);

test(
  'what a capture borrowed of the repository is missed when it goes, whenever that is',
  {
    timeout: 1_200_000,
  },
  () => looksAreHeldAgainstGit(WHOLE ? 200 : 14, printedSeed('borrowed'), OBJECTS),
);

test(
  'what a capture reports hides no change that git cannot see',
  {
    timeout: 1_200_000,
  },
  () => looksAreHeldAgainstGit(WHOLE ? 200 : 16, printedSeed('reported'), REPORTED),
);
