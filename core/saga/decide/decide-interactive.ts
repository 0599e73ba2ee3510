/**
 * Interactive sagas: what a failure of one step means, and how the wait for the next one ends. The submitter
 * of a step that did not happen is told so, and the saga goes on. A step that may have happened and does not
 * stand is taken back alone. Pure.
 */
import { DAY_MS } from '../../../contract/times.ts';
import { plural } from '../../shared/plural.ts';
import type { Fact, Failure, SagaError } from '../model/ledger-entry.ts';
import type { PinnedStep } from '../model/plan.ts';
import { isIdle, type SagaState, type Wait } from '../model/state.ts';
import { stepFact } from './facts.ts';
import type { SagaEvent, Step, Surroundings } from './saga-events.ts';
import { turningFact } from './turning.ts';

/** People who did not react are asked again after this long. */
const ASKED_AGAIN_MS = DAY_MS;

export const unwinding = (step: PinnedStep | null, error: SagaError, outcome: Failure['outcome']): Fact => ({
  direction: 'saga',
  status: 'unwinding',
  failure: { step: step?.id ?? null, tool: step?.tool ?? null, error, outcome },
});

/** The step was never started. */
export const refusedFacts = (state: SagaState, step: PinnedStep, error: SagaError): Fact[] =>
  state.interactive === undefined
    ? [unwinding(step, error, 'rejected')]
    : [{ direction: 'step', status: 'refused', ...stepFact(step, state.epoch), error }];

/**
 * The step ended cleanly, without effect. An interactive saga needs no further fact: the call's own entry
 * says it.
 */
export const rejectedFacts = (state: SagaState, step: PinnedStep, error: SagaError): Fact[] =>
  state.interactive === undefined ? [unwinding(step, error, 'rejected')] : [];

/** The step took effect, or may have, and must not stand. */
export const failedFacts = (
  state: SagaState,
  step: PinnedStep,
  error: SagaError,
  outcome: Failure['outcome'],
): Fact[] => {
  if (state.interactive === undefined) return [unwinding(step, error, outcome)];
  const turn = turningFact(state);
  if (turn !== undefined) return [turn];
  const effect = state.effects.findLastIndex((one) => one.step === step.index);
  return [{ direction: 'step', status: 'unwinding', ...stepFact(step, state.epoch), effect, error }];
};

/** Whether a step of another session resumes a parked saga. */
export const isResumedBy = ({ wait }: SagaState, sessionId: string | undefined): boolean =>
  wait?.kind === 'parked' && sessionId !== undefined && sessionId !== wait.sessionId;

export const unparkFacts = ({ wait }: SagaState, sessionId?: string): Fact[] =>
  wait?.kind === 'parked'
    ? [{ direction: 'saga', status: 'unparked', ...(sessionId === undefined ? {} : { sessionId }) }]
    : [];

/**
 * A further request that finds the saga parked gets an entry of its own. Who may resume the saga does not
 * change.
 */
export const parkFacts = (state: SagaState, event: SagaEvent & { type: 'park' }): Fact[] => {
  const { phase, wait, cancelRequested } = state;
  const { type: _, sessionId: asking, ...told } = event;
  if (phase !== 'forward' || cancelRequested || wait === null || !isIdle(wait)) return [];
  const sessionId = wait.kind === 'parked' ? wait.sessionId : asking;
  return [
    { direction: 'saga', status: 'parked', ...told, ...(sessionId === undefined ? {} : { sessionId }) },
  ];
};

/** A step is accepted only while the saga waits for it. */
export const submitFacts = (state: SagaState, event: SagaEvent & { type: 'submit' }): Fact[] => {
  const { step } = event;
  const { planHash, requestHash, sessionId, messageId } = event;
  const resumes = isResumedBy(state, sessionId);
  const waits = state.phase === 'forward' && (state.wait?.kind === 'next-step' || resumes);
  if (!waits || state.cancelRequested || step.index !== state.stepCount) return [];
  return [
    ...(resumes ? unparkFacts(state, sessionId) : []),
    {
      direction: 'step',
      status: 'submitted',
      ...stepFact(step, state.epoch),
      planHash,
      requestHash,
      generation: state.generation + 1,
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(messageId === undefined ? {} : { messageId }),
    },
  ];
};

/** All of it stands. No execution drives such a saga, so there is none to end. */
export const closeFacts = (state: SagaState, { reason, result }: SagaEvent & { type: 'close' }): Fact[] =>
  state.phase === 'forward' && state.wait?.kind === 'next-step' && !state.cancelRequested
    ? [
        {
          direction: 'saga',
          status: 'completed',
          ...(reason === undefined ? {} : { reason }),
          ...(result === undefined ? {} : { output: result }),
        },
      ]
    : [];

/** The one step of a single call is settled. */
const endOfCall = ({ effects }: SagaState): Fact => ({
  direction: 'saga',
  status: effects.some(({ status }) => status === 'committed') ? 'completed' : 'compensated',
});

const idleText = (seconds: number): string => `No step came for ${plural(seconds, 'second')}.`;

export const progressNextStep = (
  state: SagaState,
  wait: Extract<Wait, { kind: 'next-step' }>,
  { nowMs }: Surroundings,
): Step => {
  const turn = turningFact(state);
  if (turn !== undefined) return { facts: [turn] };
  const { interactive } = state;
  if (interactive?.single === true && state.stepCount > 0) return { facts: [endOfCall(state)] };
  if (interactive === undefined || nowMs < wait.untilMs) return { next: { next: 'idle' } };
  const { idleTimeoutSeconds, onIdle } = interactive;
  if (onIdle === 'unwind') {
    const error = { name: 'IdleTimeout', message: idleText(idleTimeoutSeconds) };
    return { facts: [unwinding(null, error, 'rejected')] };
  }
  const againMs = Math.max(idleTimeoutSeconds * 1000, ASKED_AGAIN_MS);
  return { facts: [{ direction: 'saga', status: 'idle', untilMs: nowMs + againMs }] };
};

/** Whether the machine must take over: a function that drives a saga makes only one call of each step. */
export const leavesInline = (state: SagaState): boolean =>
  state.phase === 'undo' ||
  state.pauseUntilMs !== null ||
  (state.wait !== null && state.wait.kind !== 'next-step' && state.wait.kind !== 'parked') ||
  (state.operation !== null && state.operation.stage !== 'invoking');
