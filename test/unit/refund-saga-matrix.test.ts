/** Every failure point at every operation, taking turns fresh or replayed; refund-saga-matrix.long.test.ts has both. */
import { expect, test } from 'vitest';
import { refundCases, testRefundSaga } from '../support/refund-matrix.ts';

/** What does not end by itself is tried for half a simulated day: one compensator of the three is enough here. */
const LASTING = /^(?:always|never|loses every|can never|meets an outage of a day|.*every (?:call|time))/;

// Fresh and replayed are neighbours.
const cases = refundCases
  .filter((_, index) => index % 2 === Math.floor(index / 2) % 2)
  .filter(
    ({ point, name }) =>
      point.operation === 'execute' || point.step === 'ticket' || !LASTING.test(name.replace(/^is /, '')),
  );

test('the sample has every failure point at every operation', () => {
  expect(cases.length).toBeGreaterThanOrEqual(265);
  expect(new Set(cases.map(({ name }) => name)).size).toBeGreaterThanOrEqual(35);
});

testRefundSaga(cases);
