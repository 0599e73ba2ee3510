import { describe, expect, it } from 'vitest';
import { fold } from '../../core/saga/fold.ts';
import { type Observation, observe } from '../../core/saga/observation.ts';
import type { SagaStore } from '../../core/saga/ports.ts';
import { expectInvariants, type RefundSagaOptions, refundSaga, SAGA_ID } from '../support/refund-saga.ts';
import { Crash } from '../support/saga-machine.ts';

const refuseMail = () => true;

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

  it('continues in new executions when a history would grow too long, and loses nothing', async () => {
    const saga = await refundSaga({ maxHistoryEvents: 20 });
    await saga.start();
    await saga.machine.settle();
    expect(await expectInvariants(saga)).toBe('COMPLETED');
    const { head } = await saga.seen();
    expect(head.state.generation).toBeGreaterThan(2);
  });

  it.each(['InvalidResult', 'ResultTooLarge'])('takes back a step whose answer is %s', async (name) => {
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
    await saga.start();
    await saga.machine.settle();
    expect(await expectInvariants(saga)).toBe('COMPENSATED');
    expect(undos[0]).toMatchObject({ step: 'ticket', externalRef: 'r' });
    expect(undos[0]).not.toHaveProperty('result');
    expect(undos[1]).toMatchObject({ step: 'refund', result: { status: 'requires_action' } });
  });

  it('stops at the read when the order may not be returned', async () => {
    const saga = await refundSaga();
    Object.assign(saga.fixture.world.shop.state.orders['order-1'] ?? {}, { daysSinceDelivery: 90 });
    await saga.start();
    await saga.machine.settle();
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
      await saga.start();
      await saga.machine.settle();
      return { called, ...(await saga.seen()) };
    };

  it('that do not match the pinned schema are refused before the call', async () => {
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

  it('are held against the schema that was pinned, and no other', async () => {
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
  it('two Advances at once: one records, the other adopts', async () => {
    const saga = await refundSaga({
      storing: (store): SagaStore => {
        let raced = false;
        return {
          ...store,
          append: async (head, version, entries) => {
            if (raced || !entries.some((entry) => entry.status === 'committed'))
              return store.append(head, version, entries);
            raced = true;
            // Somebody else writes exactly this first.
            await store.append(head, version, entries);
            return store.append(head, version, entries);
          },
        };
      },
    });
    await saga.start();
    await saga.machine.settle();
    expect(await expectInvariants(saga)).toBe('COMPLETED');
  });

  it('an execution of an older generation is told so and does nothing', async () => {
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
    await saga.start();
    await saga.machine.settle();
    const before = await saga.seen();
    expect(before.head.state.generation).toBe(2);
    await saga.machine.execute(SAGA_ID, 1);
    expect((await saga.seen()).entries).toHaveLength(before.entries.length);
  });

  it('a finished saga run again is a no-op', async () => {
    const saga = await refundSaga();
    await saga.start();
    await saga.machine.settle();
    const before = await saga.seen();
    await saga.machine.execute(SAGA_ID, 1);
    const after = await saga.seen();
    expect(after.entries).toEqual(before.entries);
    expect(after.effects).toEqual(before.effects);
  });
});

describe('people', () => {
  const asking = (decide: (saga: Awaited<ReturnType<typeof refundSaga>>) => Promise<boolean>) => {
    const holder: { saga?: Awaited<ReturnType<typeof refundSaga>> } = {};
    const made = refundSaga({
      definition: 'refund-approved',
      onAwait: async () => (holder.saga === undefined ? false : decide(holder.saga)),
    }).then((saga) => {
      holder.saga = saga;
      return saga;
    });
    return made;
  };
  const answer = (decision: 'approve' | 'reject') =>
    ({ sagaId: SAGA_ID, stepId: 'refund', decision, by: 'ada' }) as const;

  it('approve', async () => {
    const saga = await asking(async ({ machine }) => {
      await machine.answer(answer('approve'));
      return true;
    });
    await saga.start();
    await saga.machine.settle();
    expect(await expectInvariants(saga)).toBe('COMPLETED');
  });

  it('see what they approve: tool, arguments and who wrote the question', async () => {
    let seen: Observation | undefined;
    const saga = await asking(async ({ machine, seen: look }) => {
      seen = (await look()).observation;
      await machine.answer(answer('approve'));
      return true;
    });
    await saga.start();
    await saga.machine.settle();
    const call = { paymentIntent: 'pi_1', amount: 4200 };
    expect(seen?.awaiting).toMatchObject({
      step: 'refund',
      tool: 'issue_refund',
      version: '1.0.0',
      arguments: call,
      promptBy: 'template',
    });
    const { entries, head } = await saga.seen();
    const [requested, started] = ['requested', 'started'].map((status) =>
      entries.find((entry) => 'step' in entry && entry.step === 'refund' && entry.status === status),
    );
    expect(requested).toMatchObject({ arguments: call, argumentsHash: seen?.awaiting?.argumentsHash });
    expect(started).toMatchObject({ arguments: call, argumentsHash: seen?.awaiting?.argumentsHash });
    expect(head.state).not.toHaveProperty('approvedHash');
    const { definition: _, ...oneOff } = head;
    const asked = entries.slice(0, entries.findIndex((entry) => entry.status === 'requested') + 1);
    expect(observe({ ...oneOff, state: fold(asked) }, asked).awaiting?.promptBy).toBe('agent');
  });

  it('approve these arguments and no others', async () => {
    const saga = await asking(async ({ machine, memory }) => {
      await machine.answer(answer('approve'));
      // Somebody changes what the arguments are made of, behind the ledger's back.
      const { store } = memory;
      const original = { ...store };
      store.getPinnedStep = async (...where) => {
        const step = await original.getPinnedStep(...where);
        return step.id === 'refund' ? { ...step, arguments: { ...step.arguments, amount: 9999 } } : step;
      };
      return true;
    });
    await saga.start();
    await saga.machine.settle();
    const { observation, effects } = await saga.seen();
    expect(observation.failed).toMatchObject({ step: 'refund', error: { name: 'ArgumentsChanged' } });
    expect(effects.refunds).toEqual([]);
  });

  it('die while waiting: the next execution waits on, and the answer that came meanwhile counts', async () => {
    let died = false;
    const saga = await asking(async ({ machine }) => {
      if (!died) {
        died = true;
        throw new Crash('while waiting');
      }
      await machine.answer(answer('approve'));
      return true;
    });
    await saga.start();
    await saga.machine.settle();
    expect(await expectInvariants(saga)).toBe('COMPLETED');
  });

  it('answer while the execution is dead', async () => {
    const saga = await asking(async ({ machine }) => {
      await machine.answer(answer('reject'));
      throw new Crash('after the answer, before it was heard');
    });
    await saga.start();
    await saga.machine.settle();
    expect(await expectInvariants(saga)).toBe('COMPENSATED');
  });

  it('never answer: it expires, nothing happened, and a late answer is refused', async () => {
    const saga = await asking(async () => false);
    await saga.start();
    await saga.machine.settle();
    expect(await expectInvariants(saga)).toBe('COMPENSATED');
    await expect(saga.machine.answer(answer('approve'))).rejects.toMatchObject({ name: 'ApprovalExpired' });
  });

  it('answer twice: the same is fine, another is a conflict, a step that does not wait too', async () => {
    const saga = await asking(async ({ machine }) => {
      await machine.answer(answer('approve'));
      await machine.answer(answer('approve'));
      await expect(machine.answer(answer('reject'))).rejects.toMatchObject({ name: 'AnswerConflict' });
      await expect(machine.answer({ ...answer('approve'), stepId: 'ticket' })).rejects.toMatchObject({
        name: 'AnswerConflict',
      });
      return true;
    });
    await saga.start();
    await saga.machine.settle();
    expect(await expectInvariants(saga)).toBe('COMPLETED');
  });

  it.each(['verify', 'refund', 'ticket', 'booking', 'confirm'])(
    'cancel during %s: what is in flight is settled, then all is undone',
    async (step) => {
      const holder: { saga?: Awaited<ReturnType<typeof refundSaga>> } = {};
      const saga = await refundSaga({
        around: (invoke) => async (payload) => {
          if (payload.step === step && payload.operation === 'execute') {
            await holder.saga?.machine.operate({ sagaId: SAGA_ID, action: 'cancel', by: 'ada' });
          }
          return invoke(payload);
        },
      });
      holder.saga = saga;
      await saga.start();
      await saga.machine.settle();
      const status = await expectInvariants(saga);
      // A mail that went out can not be taken back.
      expect(status).toBe(step === 'confirm' ? 'COMPENSATION_FAILED' : 'COMPENSATED');
    },
  );

  it('cancel during compensation changes nothing', async () => {
    const holder: { saga?: Awaited<ReturnType<typeof refundSaga>> } = {};
    const saga = await refundSaga({
      faults: { refuseMail },
      around: (invoke) => async (payload) => {
        if (payload.operation === 'compensate') {
          await holder.saga?.machine.operate({ sagaId: SAGA_ID, action: 'cancel', by: 'ada' });
        }
        return invoke(payload);
      },
    });
    holder.saga = saga;
    await saga.start();
    await saga.machine.settle();
    expect(await expectInvariants(saga)).toBe('COMPENSATED');
    expect((await saga.seen()).entries.some(({ status }) => status === 'cancel_requested')).toBe(false);
  });

  it('can not cancel what is completed', async () => {
    const saga = await refundSaga();
    await saga.start();
    await saga.machine.settle();
    await expect(
      saga.machine.operate({ sagaId: SAGA_ID, action: 'cancel', by: 'ada' }),
    ).rejects.toMatchObject({
      name: 'OperationRefused',
    });
  });
});

describe('the queue of failed compensations (S7)', () => {
  const failed = async (broken: { now: boolean } = { now: true }) => {
    const saga = await refundSaga({
      faults: {
        refuseMail,
        netsuite: { closedPeriod: (_, externalId) => broken.now && externalId.endsWith(':undo') },
      },
    });
    await saga.start();
    await saga.machine.settle();
    expect(await expectInvariants(saga)).toBe('COMPENSATION_FAILED');
    return saga;
  };

  it('lists what stands with its reference, and the alert says where to look', async () => {
    const saga = await failed();
    const { observation } = await saga.seen();
    expect(observation.notCompensated).toEqual([
      {
        step: 'booking',
        tool: 'post_ledger_adjustment',
        externalRef: 'je-9001',
        reason: expect.stringContaining('The accounting period is closed'),
      },
    ]);
    expect(saga.machine.alerts[0]?.message).toContain('je-9001');
    expect(saga.machine.alerts[0]?.message).toContain('https://console.test/arn:execution');
  });

  it.each(['retry', 'resolve', 'skip'] as const)(
    '%s leads to COMPENSATED, and asking twice changes nothing',
    async (action) => {
      const broken = { now: true };
      const saga = await failed(broken);
      broken.now = false;
      const request = { sagaId: SAGA_ID, action, stepId: 'booking', by: 'fin', evidence: 'JE 77' };
      await saga.machine.operate(request);
      await saga.machine.settle();
      const entries = (await saga.seen()).entries.length;
      await saga.machine.operate(request);
      await saga.machine.settle();
      const seen = await saga.seen();
      expect(seen.observation.status).toBe('COMPENSATED');
      expect(seen.entries).toHaveLength(entries);
      expect(seen.observation.notCompensated).toHaveLength(action === 'skip' ? 1 : 0);
    },
  );

  it('a retry that fails again comes back to the queue', async () => {
    const saga = await failed();
    await saga.machine.operate({ sagaId: SAGA_ID, action: 'retry', by: 'fin' });
    await saga.machine.settle();
    expect(await expectInvariants(saga)).toBe('COMPENSATION_FAILED');
  });

  it('refuses to resolve without evidence, to skip without a reason, and to retry what nothing takes back', async () => {
    const saga = await failed();
    for (const action of ['resolve', 'skip'] as const) {
      await expect(
        saga.machine.operate({ sagaId: SAGA_ID, action, stepId: 'booking', by: 'fin' }),
      ).rejects.toMatchObject({
        name: 'InvalidInput',
      });
    }
    await expect(
      saga.machine.operate({ sagaId: SAGA_ID, action: 'retry', stepId: 'refund', by: 'fin' }),
    ).resolves.toMatchObject({ status: 'COMPENSATION_FAILED' });
    await expect(
      saga.machine.operate({ sagaId: SAGA_ID, action: 'retry', stepId: 'verify', by: 'fin' }),
    ).rejects.toMatchObject({ name: 'OperationRefused' });
  });
});
