/**
 * The refund as an agent does it that decides as it goes: every failure point at every operation of every step,
 * with each step submitted once, and by two callers at once.
 */
import { describe, expect, test } from 'vitest';
import type { StepAnswer } from '../../contract/saga-answers.ts';
import type { SubmitStepInput } from '../../contract/saga-inputs.ts';
import { isWalkbackError } from '../../core/shared/errors.ts';
import { Crash } from '../../kit/testing/saga-machine.ts';
import { expectInvariants, type RefundSaga, refundSaga, SAGA_ID } from './refund-saga.ts';
import { FAULTS, points } from './saga-faults.ts';

export const interactiveCases = points.flatMap((point) =>
  Object.entries(FAULTS).flatMap(([name, faultAt]) =>
    [false, true].map((atOnce) => ({ point, name, faultAt, atOnce })),
  ),
);

const STEPS: [string, string, SubmitStepInput['arguments']][] = [
  ['verify', 'verify_return_eligibility', { orderId: 'order-1' }],
  ['refund', 'issue_refund', { paymentIntent: 'pi_1', amount: 4200 }],
  ['ticket', 'create_support_ticket', { subject: 'refund', body: 'order-1' }],
  ['booking', 'post_ledger_adjustment', { memo: 'refund', amount: -4200 }],
  ['confirm', 'send_customer_confirmation', { to: 'ada@example.com', refund: 'r', ticket: 't', entry: 'e' }],
];

/** The saga was unwound meanwhile, because its clock ran far. */
const ENDED = ['SagaClosed', 'SagaUnwinding', 'SagaParked'];
const PATIENCE = 60;
const MONTH_SECONDS = 30 * 86_400;

/** A caller that dies is called again, as a backend does after a time-out. */
const orNothing = async (call: () => Promise<StepAnswer>): Promise<StepAnswer | undefined> => {
  try {
    return await call();
  } catch (error) {
    if (error instanceof Crash || isWalkbackError(error, 'StepInProgress')) return undefined;
    throw error;
  }
};

/** Submits a step again and again until it is settled, and looks after the saga in between. */
const settled = async (
  { machine, clock }: RefundSaga,
  step: SubmitStepInput,
  atOnce: boolean,
): Promise<StepAnswer['status'] | 'ended'> => {
  const call = () => orNothing(async () => (await machine.submit(step)).step);
  for (let round = 0; round < PATIENCE; round += 1) {
    try {
      const [first, ...others] = await Promise.all(atOnce ? [call(), call()] : [call()]);
      for (const other of others) {
        if (first === undefined || other === undefined) continue;
        const isDone = (status: string) => status !== 'running';
        if (isDone(first.status) && isDone(other.status)) expect(other).toEqual(first);
      }
      if (first !== undefined && first.status !== 'running') return first.status;
    } catch (error) {
      if (isWalkbackError(error) && ENDED.includes(error.name)) return 'ended';
      throw error;
    }
    await machine.settle();
    // A driver that died is taken for dead only after the deadline of its call.
    await clock.advance(60_000);
    await machine.settle();
  }
  throw new Error(`step ${step.stepId} is never settled`);
};

const work = async (saga: RefundSaga, atOnce: boolean): Promise<void> => {
  for (const [stepId, tool, given] of STEPS) {
    const step = { sagaId: SAGA_ID, stepId, tool, arguments: given };
    const status = await settled(saga, step, atOnce);
    if (status === 'ended') return;
    if (status === 'committed') continue;
    await saga.machine.close({ sagaId: SAGA_ID, outcome: 'unwind' });
    return;
  }
  await saga.machine.close({ sagaId: SAGA_ID, outcome: 'complete' });
};

export const testInteractive = (cases: typeof interactiveCases): void => {
  describe.each(cases)(
    '$point.operation of $point.step, two callers at once: $atOnce',
    ({ point, name, faultAt, atOnce }) => {
      test(name, async () => {
        const faults = point.operation === 'compensate' ? { refuseMail: () => true } : {};
        const saga = await refundSaga({ ...faultAt(point), faults });
        const allowIrreversible = ['send_customer_confirmation'];
        const interactive = {
          onIdle: 'unwind' as const,
          idleTimeoutSeconds: MONTH_SECONDS,
          allowIrreversible,
        };
        await saga.machine.start({ sagaId: SAGA_ID, interactive, requestedBy: 'agent-7' });
        await work(saga, atOnce);
        await saga.machine.settle();
        const status = await expectInvariants(saga);
        if (point.operation === 'compensate') expect(status).not.toBe('COMPLETED');
      });
    },
  );
};
