/** Every failure point, at a quarter of the operations, fresh or replayed; others with another seed. All of it in `npm run test:long`. */
import { expect, test } from 'vitest';
import { refundCases, testRefundSaga } from '../support/refund-matrix.ts';
import { printedSeed, WHOLE } from '../support/sampling.ts';

/** What does not end by itself is tried for half a simulated day: one compensator of the three is enough here. */
const LASTING = /^(?:always|never|loses every|can never|meets an outage of a day|.*every (?:call|time))/;

const SEED = printedSeed('refund matrix');
const POINTS = [...new Set(refundCases.map(({ point }) => point))];
const NAMES = [...new Set(refundCases.map(({ name }) => name))];

/** As on a board of four colours, so that every point and every failure is there. */
const sample = refundCases
  .filter(({ point, name }) => (POINTS.indexOf(point) + NAMES.indexOf(name) + SEED) % 4 === 0)
  .filter(({ replay }, index) => replay === ((Math.floor(index / 2) + (SEED >> 1)) % 2 === 0))
  .filter(
    ({ point, name }) =>
      point.operation === 'execute' || point.step === 'ticket' || !LASTING.test(name.replace(/^is /, '')),
  );

test('the matrix has every failure point at every operation, and so has the sample every point and failure', () => {
  expect(refundCases.length).toBeGreaterThanOrEqual(560);
  expect(sample.length).toBeGreaterThanOrEqual(60);
  expect(new Set(sample.map(({ point }) => point)).size).toBe(POINTS.length);
  expect(new Set(sample.map(({ name }) => name)).size).toBeGreaterThanOrEqual(35);
});

testRefundSaga(WHOLE ? refundCases : sample);
