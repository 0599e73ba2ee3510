/** What people do while a refund saga runs: approve, reject, stay silent, cancel. */
import { describe, expect, test } from 'vitest';
import type { Observation } from '../../contract/saga-observation.ts';
import { fold } from '../../core/saga/decide/fold.ts';
import { observe } from '../../core/saga/view/observation.ts';
import { Crash } from '../../kit/testing/saga-machine.ts';
import { errorOf } from '../support/error-of.ts';
import { expectInvariants, refundSaga, SAGA_ID } from '../support/refund-saga.ts';

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

  test('approve', async () => {
    const saga = await asking(async ({ machine }) => {
      await machine.answer(answer('approve'));
      return true;
    });
    await saga.run();
    expect(await expectInvariants(saga)).toBe('COMPLETED');
  });

  test('see what they approve: tool, arguments and who wrote the question', async () => {
    let seen: Observation | undefined;
    const saga = await asking(async ({ machine, seen: look }) => {
      seen = (await look()).observation;
      await machine.answer(answer('approve'));
      return true;
    });
    await saga.run();
    const call = { paymentIntent: 'pi_1', amount: 4200 };
    expect(seen?.awaiting).toMatchObject({
      step: 'refund',
      tool: 'issue_refund',
      version: '1.1.0',
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

  test('approve these arguments and no others', async () => {
    const saga = await asking(async ({ machine, memory }) => {
      await machine.answer(answer('approve'));
      // Somebody changes what the arguments are made of, behind the ledger's back.
      const { store } = memory;
      const original = { ...store };
      store.getPinnedStep = async (...where) => {
        const step = await original.getPinnedStep(...where);
        return step.kind !== 'children' && step.id === 'refund'
          ? { ...step, arguments: { ...step.arguments, amount: 9999 } }
          : step;
      };
      return true;
    });
    await saga.run();
    const { observation, effects } = await saga.seen();
    expect(observation.failed).toMatchObject({ step: 'refund', error: { name: 'ArgumentsChanged' } });
    expect(effects.refunds).toEqual([]);
  });

  test('die while waiting: the next execution waits on, and the answer that came meanwhile counts', async () => {
    let died = false;
    const saga = await asking(async ({ machine }) => {
      if (!died) {
        died = true;
        throw new Crash('while waiting');
      }
      await machine.answer(answer('approve'));
      return true;
    });
    await saga.run();
    expect(await expectInvariants(saga)).toBe('COMPLETED');
  });

  test('answer while the execution is dead', async () => {
    const saga = await asking(async ({ machine }) => {
      await machine.answer(answer('reject'));
      throw new Crash('after the answer, before it was heard');
    });
    await saga.run();
    expect(await expectInvariants(saga)).toBe('COMPENSATED');
  });

  test('never answer: it expires, nothing happened, and a late answer is refused', async () => {
    const saga = await asking(async () => false);
    await saga.run();
    expect(await expectInvariants(saga)).toBe('COMPENSATED');
    await expect(saga.machine.answer(answer('approve'))).rejects.toMatchObject({ name: 'ApprovalExpired' });
  });

  test('answer twice: the same is fine, another is a conflict; who was not asked is told why', async () => {
    const saga = await asking(async ({ machine }) => {
      const first = await machine.answer(answer('approve'));
      const second = await machine.answer({ ...answer('approve'), by: 'somebody else' });
      expect(first.answered).toMatchObject({ decision: 'approve', by: answer('approve').by });
      expect(second.answered).toEqual(first.answered);
      await expect(machine.answer({ ...answer('reject'), by: 'grace' })).rejects.toMatchObject({
        name: 'AnswerConflict',
        message: expect.stringMatching(new RegExp(`was approved by .*${answer('approve').by}.* at 20`)),
      });
      await expect(machine.answer({ ...answer('approve'), stepId: 'ticket' })).rejects.toMatchObject(
        errorOf('OperationRefused', 'needs no approval'),
      );
      for (const epoch of [0, 1]) {
        await expect(machine.answer({ ...answer('approve'), stepId: 'nope', epoch })).rejects.toMatchObject(
          errorOf('StepNotFound', 'has no step nope'),
        );
      }
      return true;
    });
    await saga.run();
    expect(await expectInvariants(saga)).toBe('COMPLETED');
  });

  test('answer after a cancel: nobody asks any more', async () => {
    const saga = await asking(async ({ machine }) => {
      await machine.operate({ sagaId: answer('approve').sagaId, action: 'cancel', by: 'ops' });
      return false;
    });
    await saga.run();
    expect(await expectInvariants(saga)).toBe('COMPENSATED');
    await expect(saga.machine.answer(answer('approve'))).rejects.toMatchObject(
      errorOf('OperationRefused', /is COMPENSATED, and does not ask about step refund now/),
    );
  });

  test.each(['verify', 'refund', 'ticket', 'booking', 'confirm'])(
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
      await saga.run();
      const status = await expectInvariants(saga);
      // A mail that went out cannot be taken back.
      expect(status).toBe(step === 'confirm' ? 'COMPENSATION_FAILED' : 'COMPENSATED');
    },
  );

  test('cancel during compensation changes nothing', async () => {
    const holder: { saga?: Awaited<ReturnType<typeof refundSaga>> } = {};
    const saga = await refundSaga({
      faults: { refuseMail: () => true },
      around: (invoke) => async (payload) => {
        if (payload.operation === 'compensate') {
          await holder.saga?.machine.operate({ sagaId: SAGA_ID, action: 'cancel', by: 'ada' });
        }
        return invoke(payload);
      },
    });
    holder.saga = saga;
    await saga.run();
    expect(await expectInvariants(saga)).toBe('COMPENSATED');
    expect((await saga.seen()).entries.some(({ status }) => status === 'cancel_requested')).toBe(false);
  });

  test('cannot cancel what is completed', async () => {
    const saga = await refundSaga();
    await saga.run();
    await expect(
      saga.machine.operate({ sagaId: SAGA_ID, action: 'cancel', by: 'ada' }),
    ).rejects.toMatchObject({
      name: 'OperationRefused',
    });
  });
});
