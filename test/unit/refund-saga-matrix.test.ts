/** Every failure point, at a quarter of the operations, fresh or replayed; others with another seed. All of it in refund-saga-matrix.long.test.ts. */
import { expect, test } from 'vitest';
import { refundCases, testRefundSaga } from '../support/refund-matrix.ts';
import { printedSeed } from '../support/sampling.ts';

/** What does not end by itself is tried for half a simulated day: one compensator of the three is enough here. */
const LASTING = /^(?:always|never|loses every|can never|meets an outage of a day|.*every (?:call|time))/;

const SEED = printedSeed('refund matrix');
const POINTS = [...new Set(refundCases.map(({ point }) => point))];
const NAMES = [...new Set(refundCases.map(({ name }) => name))];

/** As on a board of four colours, so that every point and every failure is there. */
const cases = refundCases
  .filter(({ point, name }) => (POINTS.indexOf(point) + NAMES.indexOf(name) + SEED) % 4 === 0)
  .filter(({ replay }, index) => replay === ((Math.floor(index / 2) + (SEED >> 1)) % 2 === 0))
  .filter(
    ({ point, name }) =>
      point.operation === 'execute' || point.step === 'ticket' || !LASTING.test(name.replace(/^is /, '')),
  );

test('the sample has every failure point, and every operation of every step', () => {
  expect(cases.length).toBeGreaterThanOrEqual(60);
  expect(new Set(cases.map(({ point }) => point)).size).toBe(POINTS.length);
  expect(new Set(cases.map(({ name }) => name)).size).toBeGreaterThanOrEqual(35);
});

testRefundSaga(cases);
