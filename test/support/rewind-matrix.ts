/** Rewinds and undos of the refund saga at every step, with every failure point at every operation. */
import { describe, expect, test } from 'vitest';
import type { Asked } from '../../contract/identity.ts';
import type { SagaRewind } from '../../contract/rewind.ts';
import { expectLedger, type RefundSaga, refundSaga, SAGA_ID, standingOf } from './refund-saga.ts';
import { FAULTS, points } from './saga-faults.ts';

/** When it is asked: while this step is called, or after the saga is through. */
const MOMENTS = ['refund', 'ticket', 'booking', 'confirm', 'the end'] as const;

const ACTIONS = ['is rewound', 'is rewound and cancelled', 'is undone'] as const;

export const rewindCases = points.flatMap((point) =>
  Object.entries(FAULTS).flatMap(([name, faultAt]) =>
    MOMENTS.flatMap((moment) =>
      ACTIONS.filter((action) => action !== 'is undone' || moment === 'the end').flatMap((action) =>
        [false, true].map((replay) => ({ point, name, faultAt, moment, action, replay })),
      ),
    ),
  ),
);
type Case = (typeof rewindCases)[number];

const request: Asked<SagaRewind> = {
  sagaId: SAGA_ID,
  to: { steps: 2 },
  requestId: 'rw',
  guidance: 'Once more.',
  acceptResidue: true,
  reason: 'it may stay',
  by: 'rita',
};

/** Asked twice at once, as by a caller who lost the answer. Refused when the saga has turned back by itself. */
const ask = async ({ machine }: RefundSaga, action: Case['action']): Promise<void> => {
  const undo = {
    sagaId: SAGA_ID,
    action: 'undo',
    by: 'ada',
    acceptResidue: true,
    evidence: 'it may stay',
  } as const;
  const once = () => (action === 'is undone' ? machine.operate(undo) : machine.rewind(request));
  for (const { status, reason } of (await Promise.allSettled([once(), once()])).map((settled) =>
    settled.status === 'rejected' ? settled : { status: settled.status, reason: undefined },
  )) {
    if (status === 'rejected') expect(reason).toMatchObject({ name: 'OperationRefused' });
  }
  if (action === 'is rewound and cancelled') {
    await machine.operate({ sagaId: SAGA_ID, action: 'cancel', by: 'ada' }).catch((error: unknown) => {
      expect(error).toMatchObject({ name: 'OperationRefused' });
    });
  }
};

/** An operator takes every effect out of a rewind that stopped; it goes on. */
const repair = async (saga: RefundSaga): Promise<void> => {
  const { observation, head } = await saga.seen();
  if (head.state.status !== 'COMPENSATION_FAILED' || head.state.rewind === undefined) return;
  for (const { step } of observation.notCompensated) {
    if ((await saga.seen()).head.state.status !== 'COMPENSATION_FAILED') await saga.machine.settle();
    await saga.machine
      .operate({ sagaId: SAGA_ID, action: 'skip', stepId: step, by: 'fin', evidence: 'may stay' })
      .catch((error: unknown) => expect(error).toMatchObject({ name: 'OperationRefused' }));
  }
  await saga.machine.settle();
};

const expectEnd = async (saga: RefundSaga): Promise<string> => {
  await expectLedger(saga);
  const { head, entries, observation, effects } = await saga.seen();
  const { state } = head;
  const count = (status: string) => entries.filter((entry) => entry.status === status).length;
  expect(count('rewind_requested'), 'asked twice is one').toBeLessThanOrEqual(1);
  expect(count('undo_requested'), 'asked twice is one').toBeLessThanOrEqual(1);
  expect(count('rewound')).toBe(state.epoch);

  // No effect of one epoch twice, and of both epochs only what somebody let stand.
  const skipped = new Set(observation.notCompensated.map(({ step }) => step));
  const still = standingOf(effects);
  const alive = effects.refunds.filter(({ status }) => status !== 'canceled').length;
  expect(effects.refunds.length).toBeLessThanOrEqual(state.epoch + 1);
  expect(effects.tickets.length).toBeLessThanOrEqual(state.epoch + 1);
  expect(effects.mails.length).toBeLessThanOrEqual(state.epoch + 1);
  if (!skipped.has('refund')) expect(alive).toBeLessThanOrEqual(1);

  const standing = Object.entries(still).flatMap(([step, stands]) => (stands ? [step] : []));
  switch (state.status) {
    case 'COMPLETED':
      expect(standing).toEqual(['refund', 'ticket', 'booking', 'confirm']);
      expect(state.rewind).toBeUndefined();
      break;
    case 'COMPENSATED':
    case 'COMPENSATION_FAILED':
      for (const step of standing) expect(skipped, `${step} stands and is listed`).toContain(step);
      break;
    default:
      expect.fail(`the saga ended ${state.status}`);
  }
  return state.status;
};

export const testRewinds = (cases: readonly Case[]): void => {
  describe.each(cases)(
    '$action at $moment, $point.operation of $point.step, replayed: $replay',
    ({ point, name, faultAt, moment, action, replay }) => {
      test(name, async () => {
        const fault = faultAt(point);
        let isAsked = false;
        const saga: RefundSaga = await refundSaga({
          ...fault,
          replay,
          around: (invoke, clock) => {
            const inner = fault.around?.(invoke, clock) ?? invoke;
            return async (payload) => {
              if (!isAsked && payload.step === moment && payload.operation === 'execute') {
                isAsked = true;
                await ask(saga, action);
              }
              return inner(payload);
            };
          },
        });
        await saga.run();
        if (!isAsked) await ask(saga, action);
        await saga.machine.settle();
        await repair(saga);
        const status = await expectEnd(saga);
        const { head } = await saga.seen();
        if (status === 'COMPLETED' && action === 'is rewound') expect(head.state.epoch).toBe(1);
        if (status !== 'COMPENSATION_FAILED') expect(head.state.rewind).toBeUndefined();
      });
    },
  );
};
