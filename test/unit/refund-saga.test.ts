import { describe, expect, it } from 'vitest';
import { expectInvariants, refundSaga } from '../support/refund-saga.ts';

describe('the refund saga', () => {
  it('runs all steps and keeps every reference', async () => {
    const saga = await refundSaga();
    await saga.start();
    await saga.machine.settle();
    expect(await expectInvariants(saga)).toBe('COMPLETED');
    const { observation } = await saga.seen();
    expect(observation.committed).toEqual([
      { step: 'refund', tool: 'issue_refund', externalRef: 're_000001' },
      { step: 'ticket', tool: 'create_support_ticket', externalRef: 'zendesk-7001' },
      { step: 'booking', tool: 'post_ledger_adjustment', externalRef: 'je-9001' },
      { step: 'confirm', tool: 'send_customer_confirmation', externalRef: 'msg-1' },
    ]);
  });

  it('takes everything back when the last step is refused', async () => {
    const saga = await refundSaga({ faults: { refuseMail: () => true } });
    await saga.start();
    await saga.machine.settle();
    expect(await expectInvariants(saga)).toBe('COMPENSATED');
  });
});
