/** Sagas in whose ledgers finance reads: a refund that was partly taken back, an order, and a saga that only runs another. */
import { attempt, committed, ledgerOf, started, stepOf, undo } from './ledger-world.ts';

export const EUR = (amount: string) => ({ amount, currency: 'EUR', amountDirection: 'out' });
export const paid = (amount: string) => ({ amount, currency: 'EUR', amount_direction: 'out' });
export const moved = (amount: string, undone = '0', byHand = '0') => ({ amount, undone, byHand });
export const none = moved('0');

export const refund = ledgerOf('refund-1', 'shop', [
  [1, started(0, 'look', { effect: 'read' })],
  [1, committed(0, 'look')],
  [2, started(1, 'pay', { resourceKey: 'customer-7' })],
  [2, committed(1, 'pay', { ...EUR('19.99'), externalRef: 're_1' })],
  [3, started(2, 'book', { resourceKey: 'books' })],
  [3, committed(2, 'book', { externalRef: 'je_1' })],
  // Days later.
  [50, { direction: 'undo', status: 'started', ...stepOf(2, 'book'), ...attempt, deadlineMs: 0 }],
  [50, undo('failed', 2, 'book')],
  [51, undo('committed', 1, 'pay', { ...EUR('12.00'), externalRef: 're_1_back', residue: 'the fee' })],
  [51, { direction: 'saga', status: 'compensation_failed' }],
  [52, { direction: 'operator', status: 'retried', ...stepOf(2, 'book') }],
  [52, undo('failed', 2, 'book')],
  [52, { direction: 'saga', status: 'compensation_failed' }],
  [55, { direction: 'operator', status: 'resolved', ...stepOf(2, 'book'), evidence: 'ticket 12' }],
  [55, { direction: 'saga', status: 'compensated' }],
]);
export const order = ledgerOf('order-1', 'robot', [
  [26, started(0, 'pay', { resourceKey: 'customer-7' })],
  [26, committed(0, 'pay', { ...EUR('-0.01'), externalRef: 're_2' })],
  [27, started(1, 'gift', {})],
  [27, committed(1, 'gift', { amountProblem: { name: 'AmountInvalid', message: 'the amount "x" is none' } })],
  [28, { direction: 'saga', status: 'completed' }],
]);
export const parent = ledgerOf('parent', 'robot', [
  [26, started(0, 'saga', { children: [] })],
  [30, committed(0, 'saga')],
]);
export const march = { from: '2026-03-01', to: '2026-03-31' };
