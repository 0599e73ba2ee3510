/** A sample of saga-rewind-matrix.long.test.ts: other cases each time, by a seed. */
import { rewindCases, testRewinds } from '../support/rewind-matrix.ts';
import { printedSeed, sampled } from '../support/sampling.ts';

testRewinds(
  sampled(rewindCases, { every: 421, offset: printedSeed('saga-rewind-matrix') % 421, minimum: 12 }),
);
