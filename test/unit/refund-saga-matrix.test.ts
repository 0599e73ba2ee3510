import { describe, expect, test } from 'vitest';
import { expectInvariants, refundSaga } from '../support/refund-saga.ts';
import { FAULTS, points } from '../support/saga-faults.ts';

const statuses: Record<string, number> = {};

/** Every second one with each message delivered twice, taking turns; `FAULT_EVERY=1` has all of them. */
const EVERY = process.env['FAULT_EVERY'] === '1';
const names = Object.keys(FAULTS);

describe.each(points.map((point, row) => ({ ...point, row })))('$operation of $step', ({ row, ...point }) => {
  describe.each([
    { name: 'fresh', replay: false },
    { name: 'replayed', replay: true },
  ])('$name', ({ replay }) => {
    test.each(names.filter((_, column) => EVERY || !replay || (row + column) % 2 === 0))(
      '%s',
      async (name) => {
        const fault = FAULTS[name]?.(point) ?? {};
        // The way back is walked because the last step is refused.
        const faults = point.operation === 'compensate' ? { refuseMail: () => true } : {};
        const saga = await refundSaga({ ...fault, faults, replay });
        await saga.start();
        await saga.machine.settle();
        const status = await expectInvariants(saga);
        statuses[status] = (statuses[status] ?? 0) + 1;
        if (point.operation === 'compensate') expect(status).not.toBe('COMPLETED');
      },
    );
  });
});
