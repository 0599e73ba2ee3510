/** Every failure point of the refund saga, at every operation of every step, once and with every message delivered twice. */
import { describe, expect, test } from 'vitest';
import { expectInvariants, refundSaga } from './refund-saga.ts';
import { FAULTS, points } from './saga-faults.ts';

export const refundCases = points.flatMap((point) =>
  Object.entries(FAULTS).flatMap(([name, faultAt]) =>
    [false, true].map((replay) => ({ point, name, faultAt, replay })),
  ),
);

/** What a compensator meets that ends by itself within ten minutes calls nobody. */
const PASSING = new Set([
  'is asked to come back in two minutes',
  'is answered 404 by its endpoint',
  'has no function',
  'gets a 429',
  'is throttled before the call',
  'meets an outage of 20 seconds',
  'meets an outage of ten minutes',
]);

export const testRefundSaga = (cases: typeof refundCases): void => {
  describe.each(cases)(
    '$point.operation of $point.step, replayed: $replay',
    ({ point, name, faultAt, replay }) => {
      test(name, async () => {
        const fault = faultAt(point);
        // The way back is walked because the last step is refused.
        const faults = point.operation === 'compensate' ? { refuseMail: () => true } : {};
        const saga = await refundSaga({ ...fault, faults, replay });
        await saga.run();
        const status = await expectInvariants(saga);
        if (point.operation !== 'compensate') return;
        expect(status).not.toBe('COMPLETED');
        if (PASSING.has(name)) expect(status).toBe('COMPENSATED');
      });
    },
  );
};
