import { describe, expect, it } from 'vitest';
import { refundTools } from '../../examples/refund/catalog.ts';
import { testToolIsSafe } from '../../kit/conformance.ts';
import { effectsOf, refundFixture } from '../support/refund-fixture.ts';

const cases: Record<string, { [name: string]: string | number }> = {
  verify_return_eligibility: { orderId: 'order-1' },
  issue_refund: { paymentIntent: 'pi_1', amount: 1000 },
  create_support_ticket: { subject: 'Return', body: 'Please look' },
  post_ledger_adjustment: { memo: 'Refund', amount: -1000 },
  send_customer_confirmation: { to: 'ada@example.com', refund: 're_1', ticket: 'zendesk-1', entry: 'je-1' },
};

describe('every tool of the refund saga, and its compensator, is safe to call twice, late and out of order', () => {
  const fixture = refundFixture();
  for (const tool of refundTools(fixture.services)) {
    it(tool.definition.name, async () => {
      const checks = await testToolIsSafe(tool, {
        arguments: cases[tool.definition.name] ?? {},
        observe: async () => effectsOf(fixture),
        sagaId: `conformance-${tool.definition.name}`,
      });
      expect(checks.length).toBeGreaterThan(4);
    });
  }
});
