/** A capture trusts its stat table about what has not changed. It never finds another state than a capture that knows nothing. */
import { inTurn } from '../support/sampled-test.ts';
import { printedSeed, WHOLE } from '../support/sampling.ts';
import { capturesAreHeldAgainstNew, OBJECTS, REPORTED } from '../support/stat-table.ts';

const test = inTurn('git-stat-table');
const limits = { timeout: 1_200_000 };

test('whatever another process writes, and whenever', limits, () =>
  capturesAreHeldAgainstNew(WHOLE ? 200 : 16, printedSeed('stat table')),
);

test('what a capture borrowed of the repository is missed when it goes, whenever that is', limits, () =>
  capturesAreHeldAgainstNew(WHOLE ? 100 : 12, printedSeed('borrowed'), OBJECTS),
);

test('what a capture reports hides no change that git cannot see', limits, () =>
  capturesAreHeldAgainstNew(WHOLE ? 100 : 12, printedSeed('reported'), REPORTED),
);
