/** The refund saga from end to end: its steps, its arguments and its one writer. */
import { describe, expect, test } from 'vitest';
import type { SagaStore } from '../../core/saga/ports.ts';
import { Crash } from '../../kit/testing/saga-machine.ts';
import { expectInvariants, type RefundSagaOptions, refundSaga, SAGA_ID } from '../support/refund-saga.ts';

describe('the refund saga', () => {
  test('runs all steps and keeps every reference', async () => {
    const saga = await refundSaga();
    await saga.run();
    expect(await expectInvariants(saga)).toBe('COMPLETED');
    const { observation } = await saga.seen();
    expect(observation.committed).toEqual([
      {
        step: 'refund',
        tool: 'issue_refund',
        externalRef: 're_000001',
        externalUrl: expect.stringMatching(/^https:\/\/dashboard\.stripe\.com\/payments\/pi_/),
        amount: '42.00',
        currency: 'EUR',
      },
      { step: 'ticket', tool: 'create_support_ticket', externalRef: 'zendesk-7001' },
      { step: 'booking', tool: 'post_ledger_adjustment', externalRef: 'je-9001' },
      { step: 'confirm', tool: 'send_customer_confirmation', externalRef: 'msg-1' },
    ]);
  });

  test('continues in new executions when a history would grow too long, and loses nothing', async () => {
    const saga = await refundSaga({ maxHistoryEvents: 20 });
    await saga.run();
    expect(await expectInvariants(saga)).toBe('COMPLETED');
    const { head } = await saga.seen();
    expect(head.state.generation).toBeGreaterThan(2);
  });

  test.each(['InvalidResult', 'ResultTooLarge'])('takes back a step whose answer is %s', async (name) => {
    const undos: object[] = [];
    const saga = await refundSaga({
      around: (invoke) => async (payload) => {
        if (payload.operation === 'compensate') undos.push(payload);
        const answered = await invoke(payload);
        if (payload.step !== 'ticket' || payload.operation !== 'execute') return answered;
        return {
          Payload: { outcome: 'committed', result: null, externalRef: 'r', error: { name, message: '' } },
        };
      },
    });
    await saga.run();
    expect(await expectInvariants(saga)).toBe('COMPENSATED');
    expect(undos[0]).toMatchObject({ step: 'ticket', externalRef: 'r' });
    expect(undos[0]).not.toHaveProperty('result');
    expect(undos[1]).toMatchObject({ step: 'refund', result: { status: 'requires_action' } });
  });

  test('stops at the read when the order may not be returned', async () => {
    const saga = await refundSaga();
    Object.assign(saga.fixture.world.shop.state.orders['order-1'] ?? {}, { daysSinceDelivery: 90 });
    await saga.run();
    expect(await expectInvariants(saga)).toBe('COMPENSATED');
    const { observation } = await saga.seen();
    expect(observation.failed).toMatchObject({
      step: 'verify',
      outcome: 'rejected',
      error: { name: 'NotEligible' },
    });
    expect(observation.compensated).toEqual([]);
  });
});

describe('arguments made of results (S8)', () => {
  const verified =
    (amount: unknown) =>
    async (options: RefundSagaOptions = {}) => {
      const called: string[] = [];
      const saga = await refundSaga({
        ...options,
        around: (invoke) => async (payload) => {
          called.push(`${payload.operation} ${payload.step}`);
          if (payload.step !== 'verify') return invoke(payload);
          return { Payload: { outcome: 'committed', result: { paymentIntent: 'pi_1', amount } } };
        },
      });
      await saga.run();
      return { called, ...(await saga.seen()) };
    };

  test('that do not match the pinned schema are refused before the call', async () => {
    const { called, observation } = await verified('a lot')();
    expect(called).toEqual(['execute verify']);
    expect(observation).toMatchObject({
      status: 'COMPENSATED',
      failed: {
        step: 'refund',
        outcome: 'rejected',
        error: { name: 'InvalidArguments', message: expect.stringContaining('/amount must be integer') },
      },
    });
  });

  test('are held against the schema that was pinned, and no other', async () => {
    const { called, observation } = await verified(4200)({
      storing: (store) => {
        let altered = false;
        return {
          ...store,
          append: async (...move) => {
            altered = true;
            return store.append(...move);
          },
          getTool: async (...which) => {
            const tool = await store.getTool(...which);
            return altered && tool ? { ...tool, schemas: { ...tool.schemas, input: {} } } : tool;
          },
        };
      },
    });
    expect(called).toEqual(['execute verify']);
    expect(observation.failed).toMatchObject({ step: 'refund', error: { name: 'InvalidArguments' } });
  });
});

describe('one writer (S9)', () => {
  test('two Advances at once: one records, the other adopts', async () => {
    const saga = await refundSaga({
      storing: (store): SagaStore => {
        let raced = false;
        return {
          ...store,
          append: async (head, version, entries, beside) => {
            if (raced || !entries.some((entry) => entry.status === 'committed'))
              return store.append(head, version, entries, beside);
            raced = true;
            // Somebody else writes exactly this first.
            await store.append(head, version, entries, beside);
            return store.append(head, version, entries, beside);
          },
        };
      },
    });
    await saga.run();
    expect(await expectInvariants(saga)).toBe('COMPLETED');
  });

  test('an execution of an older generation is told so and does nothing', async () => {
    const saga = await refundSaga({
      around: (invoke) => {
        let first = true;
        return async (payload) => {
          if (first && payload.step === 'ticket') {
            first = false;
            throw new Crash('dies');
          }
          return invoke(payload);
        };
      },
    });
    await saga.run();
    const before = await saga.seen();
    expect(before.head.state.generation).toBe(2);
    await saga.machine.execute(SAGA_ID, 1);
    expect((await saga.seen()).entries).toHaveLength(before.entries.length);
  });

  test('a finished saga run again is a no-op', async () => {
    const saga = await refundSaga();
    await saga.run();
    const before = await saga.seen();
    await saga.machine.execute(SAGA_ID, 1);
    const after = await saga.seen();
    expect(after.entries).toEqual(before.entries);
    expect(after.effects).toEqual(before.effects);
  });
});
