/**
 * Rewinds and undos at every step, with every failure point at every operation, fresh and replayed. A sample, others each
 * time; a twelfth of all in `npm run test:long`, which takes a minute.
 */
import { expect, test } from 'vitest';
import { rewindCases, testRewinds } from '../support/rewind-matrix.ts';
import { printedSeed, sampled, WHOLE } from '../support/sampling.ts';

test('the matrix has every action at every moment and failure point', () => {
  expect(rewindCases.length).toBeGreaterThanOrEqual(5000);
});

testRewinds(
  sampled(rewindCases, {
    every: 421,
    whole: 12,
    offset: printedSeed('saga-rewind-matrix'),
    minimum: WHOLE ? 25 : 12,
  }),
);
