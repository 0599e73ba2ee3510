/** Commands of people and the sweeper. Permission is checked before this file turns them into facts. */

import type { Fact } from '../model/ledger-entry.ts';
import { isIdle, type SagaState } from '../model/state.ts';
import { refusedFacts } from './decide-interactive.ts';
import { currentStep, stepFact } from './facts.ts';
import type { SagaEvent, Surroundings } from './saga-events.ts';
import { CANCELLED } from './turning.ts';

export const resumed = (state: SagaState, reason: string): Fact => ({
  direction: 'saga',
  status: 'resumed',
  generation: state.generation + 1,
  reason,
});

export const answerFacts = (
  state: SagaState,
  event: SagaEvent & { type: 'answer' },
  around: Surroundings,
): Fact[] => {
  if (state.wait?.kind !== 'approval' || state.wait.step !== event.step) return [];
  const step = currentStep(around);
  const note = event.note === undefined ? {} : { note: event.note };
  const place = stepFact(step, state.epoch);
  if (event.decision === 'approve') return [{ direction: 'approval', status: 'approved', ...place, ...note }];
  const error = { name: 'ApprovalDeclined', message: `The approval of step ${step.id} was declined.` };
  return [
    { direction: 'approval', status: 'declined', ...place, ...note },
    ...refusedFacts(state, step, error),
  ];
};

/**
 * Nobody answered in time. Whoever notices first records it: the waiting execution, or a person who answers
 * late.
 */
export const expiredFacts = (state: SagaState, around: Surroundings): Fact[] => {
  if (state.wait?.kind !== 'approval' || around.nowMs < state.wait.untilMs) return [];
  const step = currentStep(around);
  const error = {
    name: 'ApprovalExpired',
    message: `Nobody answered the approval of step ${step.id} in time.`,
  };
  return [
    { direction: 'approval', status: 'expired', ...stepFact(step, state.epoch) },
    ...refusedFacts(state, step, error),
  ];
};

/**
 * Whether the saga can be cancelled. A rewind, and a step that is taken back alone, can be cancelled also on
 * the way back and after that failed; then everything is undone.
 */
export const isCancellable = ({ phase, rewind, undoFrom, cancelRequested }: SagaState): boolean =>
  !cancelRequested && (phase === 'forward' || rewind !== undefined || undoFrom !== undefined);

/**
 * Records a cancel command in the ledger (S11). A wait or a pause ends at once; after a pause, the saga
 * goes on in a new execution. An operation in flight is settled first.
 */
export const cancelFacts = (
  state: SagaState,
  event: Pick<SagaEvent & { type: 'cancel' }, 'evidence' | 'parent'>,
): Fact[] => {
  if (!isCancellable(state)) return [];
  const requested: Fact = {
    direction: 'saga',
    status: 'cancel_requested',
    ...(event.evidence === undefined ? {} : { evidence: event.evidence }),
    ...(event.parent === undefined ? {} : { parent: event.parent }),
  };
  // Nothing drives a saga that ended or waits for its next step.
  if (state.phase === 'done' || isIdle(state.wait)) {
    return [requested, CANCELLED, resumed(state, 'cancelled')];
  }
  // Its children are cancelled first.
  if (state.wait?.kind === 'children') return [requested];
  if (state.wait !== null) return [requested, CANCELLED];
  return state.status === 'PAUSED' ? [requested, resumed(state, 'cancelled')] : [requested];
};

export const resumeFacts = (state: SagaState, event: SagaEvent & { type: 'resume' }): Fact[] => [
  resumed(state, event.reason),
];

/**
 * Records whether the alert was delivered (S7), once for each execution. A redrive may deliver what the same
 * execution could not.
 */
export const alertFacts = (state: SagaState, { told }: SagaEvent & { type: 'alert' }): Fact[] => {
  if (state.status !== 'COMPENSATION_FAILED' || state.alert?.status === 'delivered') return [];
  if (!('error' in told)) return [{ direction: 'alert', status: 'delivered', ...told }];
  if (state.alert?.generation === state.generation) return [];
  return [{ direction: 'alert', status: 'refused', error: told.error }];
};

const OPERATED = { retry: 'retried', resolve: 'resolved', skip: 'skipped' } as const;

/**
 * Works on what is left of a failed or delayed compensation (S7), and hands a saga that ended or pauses to
 * a new execution. If an operation is in flight, the saga goes on from there.
 */
export const operateFacts = (
  state: SagaState,
  event: SagaEvent & { type: 'operate' },
  around: Surroundings,
): Fact[] => {
  const facts = event.effects.flatMap((index): Fact[] => {
    const effect = state.effects[index];
    const step = around.effectSteps?.get(index);
    if (effect === undefined || step === undefined) return [];
    const evidence = event.evidence === undefined ? {} : { evidence: event.evidence };
    return [
      { direction: 'operator', status: OPERATED[event.action], ...stepFact(step, effect.epoch), ...evidence },
    ];
  });
  if (facts.length === 0) return [];
  // Somebody let these effects stand, so nothing waits for them. The saga stays where it is.
  if (event.effects.every((index) => state.effects[index]?.status === 'skipped')) return facts;
  const stands = state.phase === 'done' || state.status === 'PAUSED';
  return stands ? [...facts, resumed(state, `operator: ${event.action}`)] : facts;
};
