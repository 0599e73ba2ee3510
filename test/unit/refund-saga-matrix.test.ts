import { describe, expect, it } from 'vitest';
import { expectInvariants, refundSaga } from '../support/refund-saga.ts';
import { FAULTS, points } from '../support/saga-faults.ts';

const statuses: Record<string, number> = {};

describe.each(points)('$operation of $step', (point) => {
  describe.each([
    { name: 'fresh', replay: false },
    { name: 'replayed', replay: true },
  ])('$name', ({ replay }) => {
    it.each(Object.keys(FAULTS))('%s', async (name) => {
      const fault = FAULTS[name]?.(point) ?? {};
      // The way back is walked because the last step is refused.
      const faults = point.operation === 'compensate' ? { refuseMail: () => true } : {};
      const saga = await refundSaga({ ...fault, faults, replay });
      await saga.start();
      await saga.machine.settle();
      const status = await expectInvariants(saga);
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (point.operation === 'compensate') expect(status).not.toBe('COMPLETED');
    });
  });
});
