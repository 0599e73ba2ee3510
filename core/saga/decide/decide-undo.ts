/** The way back: compensators in reverse order of start, once per effect and epoch (S3, S5, S7). */

import type { EffectRecord, Fact, Operation, PinnedStep, SagaError, SagaState } from '../model.ts';
import { backoffMs, LATE_COMMIT_MARGIN_MS } from '../run/timing.ts';
import { pauseStep, settleInFlight } from './decide-forward.ts';
import { attemptFact, currentStep, stepFact } from './decide-outcome.ts';
import type { SagaEvent, Step, Surroundings } from './saga-events.ts';

const LOST: SagaError = {
  name: 'OutcomeUnknown',
  message: 'The compensator was started and its answer is not known.',
};

const mayHaveHappened = (effect: EffectRecord): boolean =>
  effect.status === 'started' || effect.status === 'committed' || effect.status === 'unknown';

const isUndoable = (effect: EffectRecord): boolean =>
  (effect.kind === 'compensatable' || effect.kind === 'partial') && mayHaveHappened(effect);

/** What is left of an unwound saga: a failed or blocked compensator, or something nothing takes back. */
export const isResidue = (effect: EffectRecord): boolean =>
  effect.status === 'undo_failed' ||
  effect.status === 'blocked' ||
  (effect.kind === 'irreversible' && mayHaveHappened(effect));

/** The effect to undo next: the last started one that still stands. */
const undoTarget = (state: SagaState): number => state.effects.findLastIndex(isUndoable);

const epochOf = (state: SagaState, effect: number): number => state.effects[effect]?.epoch ?? state.epoch;

const undoStarted = (step: PinnedStep, epoch: number, attempt: number, around: Surroundings): Fact => ({
  direction: 'undo',
  status: 'started',
  ...attemptFact(around.sagaId, step, epoch, 'undo', attempt),
  deadlineMs: around.nowMs + (step.compensation?.timeoutSeconds ?? 30) * 1000,
});

const settleUndo = (step: PinnedStep, operation: Operation, epoch: number, around: Surroundings): Step => {
  const safeMs = operation.deadlineMs + LATE_COMMIT_MARGIN_MS;
  if (around.nowMs < safeMs) return pauseStep(safeMs, 'until a lost compensator can no longer act');
  const retry = step.compensation?.retry;
  if (retry === undefined || operation.attempt >= retry.maxAttempts) {
    const error = operation.error ?? LOST;
    return { facts: [{ direction: 'undo', status: 'failed', ...stepFact(step, epoch), error }] };
  }
  const resumeMs = operation.deadlineMs + backoffMs(retry, operation.attempt);
  if (around.nowMs < resumeMs) return pauseStep(resumeMs, 'before compensating again');
  return { facts: [undoStarted(step, epoch, operation.attempt + 1, around)] };
};

const progressOperation = (state: SagaState, operation: Operation, around: Surroundings): Step => {
  const step = currentStep(around);
  const epoch = epochOf(state, operation.effect);
  switch (operation.stage) {
    case 'invoking': {
      const attempt = attemptFact(around.sagaId, step, epoch, 'undo', operation.attempt);
      return settleInFlight(state, operation, around, [
        { direction: 'undo', status: 'unknown', ...attempt, error: LOST },
      ]);
    }
    case 'retry':
      return { facts: [undoStarted(step, epoch, operation.attempt + 1, around)] };
    case 'doubt':
      return settleUndo(step, operation, epoch, around);
  }
};

export const progressUndo = (state: SagaState, around: Surroundings): Step => {
  if (state.operation !== null) return progressOperation(state, state.operation, around);
  const target = undoTarget(state);
  if (target !== -1) return { next: { next: 'prepare-undo', effect: target } };
  const status = state.effects.some(isResidue) ? 'compensation_failed' : 'compensated';
  return { facts: [{ direction: 'saga', status }] };
};

/** The target, with its step: start its compensator, or leave it because a later effect on its resource still stands. */
export const startUndo = (
  state: SagaState,
  event: SagaEvent & { type: 'undo-prepared' },
  around: Surroundings,
): Fact[] => {
  const due = state.phase === 'undo' && state.operation === null && undoTarget(state) === event.effect;
  if (!due) return [];
  const epoch = epochOf(state, event.effect);
  if (event.blockedBy === undefined) return [undoStarted(event.step, epoch, 1, around)];
  const error: SagaError = {
    name: 'CompensationBlocked',
    message: `Step ${event.blockedBy} changed the same resource later and could not be undone.`,
  };
  return [{ direction: 'undo', status: 'blocked', ...stepFact(event.step, epoch), error }];
};
