/** Rewinds and undos at every step, with every failure point at every operation, fresh and replayed. */
import { expect, test } from 'vitest';
import { rewindCases, testRewinds } from '../support/rewind-matrix.ts';
import { printedSeed, sampled } from '../support/sampling.ts';

test('the matrix has every action at every moment and failure point', () => {
  expect(rewindCases.length).toBeGreaterThanOrEqual(5000);
});

testRewinds(
  sampled(rewindCases, {
    every: 211,
    // One in twelve takes a minute; the seed gives others each time.
    whole: 12,
    offset: printedSeed('saga-rewind-matrix'),
    minimum: 25,
  }),
);
