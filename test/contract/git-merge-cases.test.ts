/**
 * The case list of capture and restore, merged and reverted. Every case: the agent's work comes into what stood still and into
 * other work, and is taken back again. A sample, others each time; half of them in `npm run test:long`.
 */
import { describe, test } from 'vitest';
import { MERGE_CASES, mergesAndReverts } from '../support/merge-cases.ts';
import { printedSeed, sampled } from '../support/sampling.ts';

describe('merge and revert', () => {
  test.concurrent.for(
    sampled(MERGE_CASES, { every: 25, whole: 2, offset: printedSeed('merged cases'), minimum: 2 }),
  )('$name', mergesAndReverts);
});
