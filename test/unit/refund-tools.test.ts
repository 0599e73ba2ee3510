import { describe, expect, test } from 'vitest';
import { refundTools } from '../../examples/refund/catalog.ts';
import { requireSuccess } from '../../examples/refund/tools/http.ts';
import { memoryTombstones, testToolIsSafe } from '../../kit/conformance.ts';
import { toolHandler } from '../../kit/handler.ts';
import { ToolRejected, ToolUncertain } from '../../kit/outcomes.ts';
import { effectsOf, refundFixture } from '../support/refund-fixture.ts';
import { requestOf } from '../support/tool-requests.ts';

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
    test(tool.definition.name, async () => {
      const checks = await testToolIsSafe(tool, {
        arguments: cases[tool.definition.name] ?? {},
        observe: async () => effectsOf(fixture),
        sagaId: `conformance-${tool.definition.name}`,
      });
      expect(checks.length).toBeGreaterThan(4);
    });
  }
});

describe('a booking that was written is never called refused', () => {
  test.each([400, 404, 429, 503])('although reading it back answers %i', async (status) => {
    const fixture = refundFixture({}, (fetch) => async (url, init) => {
      if (init?.method !== 'GET') return fetch(url, init);
      return Response.json({ error: 'no' }, { status, headers: { 'retry-after': '1' } });
    });
    const handle = toolHandler(refundTools(fixture.services), { tombstones: memoryTombstones() });
    const outcome = await handle(
      requestOf({
        tool: 'post_ledger_adjustment',
        version: '1.0.0',
        step: 'booking',
        idempotencyKey: 's:3',
        forwardKey: 's:3',
        arguments: { memo: 'Refund', amount: -1000 },
      }),
    );
    expect(effectsOf(fixture).entries).toHaveLength(1);
    expect(outcome).toMatchObject({ outcome: 'unknown' });
  });
});

describe('what a status of a service means', () => {
  const sent = (method: 'GET' | 'POST' | 'PUT', status: number) => () =>
    requireSuccess('It', { method, status, headers: new Headers(), body: null });

  test.each([408, 409, 425, 499])('%i leaves a change open', (status) => {
    expect(sent('PUT', status)).toThrow(ToolUncertain);
    expect(sent('POST', status)).toThrow(ToolUncertain);
    expect(sent('GET', status)).toThrow(ToolRejected);
  });

  test('422 says that nothing was done', () => {
    expect(sent('POST', 422)).toThrow(ToolRejected);
  });
});
