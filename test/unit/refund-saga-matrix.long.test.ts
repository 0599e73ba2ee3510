/** The whole matrix: every failure point at every operation, fresh and replayed. */
import { expect, test } from 'vitest';
import { refundCases, testRefundSaga } from '../support/refund-matrix.ts';

test('the matrix has every failure point at every operation', () => {
  expect(refundCases.length).toBeGreaterThanOrEqual(560);
});

testRefundSaga(refundCases);
