/** The way back: compensators in reverse order of start, once per effect and epoch (S3, S5, S7). */

import type { Fact, SagaError } from '../model/ledger-entry.ts';
import type { PinnedToolStep } from '../model/plan.ts';
import type { EffectRecord, Operation, SagaState } from '../model/state.ts';
import { undoAgain } from './attempts.ts';
import { safeMsOf, secondsOf } from './deadlines.ts';
import { progressChildren, undoChildren } from './decide-children.ts';
import { settleInFlight } from './decide-forward.ts';
import { isInRange, isLeftOver, isUndoable } from './effects.ts';
import { attemptFact, currentTool, pauseStep, stepFact } from './facts.ts';
import type { SagaEvent, Step, Surroundings } from './saga-events.ts';
import { attemptsBefore } from './undo-failure.ts';

const LOST: SagaError = {
  name: 'OutcomeUnknown',
  message: 'The compensator was started and its answer is not known.',
};

const isDelayed = (effect: EffectRecord): boolean => effect.status === 'undo_delayed';

/**
 * The effect to undo next: the last started one that still stands. Effects that were put aside come after all
 * others.
 */
const undoTarget = (state: SagaState, nowMs: number): number => {
  const target = state.effects.findLastIndex(
    (effect, index) => isInRange(state, index) && isUndoable(effect),
  );
  if (target !== -1) return target;
  return state.effects.findLastIndex((effect) => isDelayed(effect) && (effect.undo?.untilMs ?? 0) <= nowMs);
};

/** When the first of the effects that were put aside is tried again. Undefined when there are none. */
const nextDelayedMs = (state: SagaState): number | undefined => {
  const times = state.effects.filter(isDelayed).map(({ undo }) => undo?.untilMs ?? 0);
  return times.length === 0 ? undefined : times.reduce((first, time) => Math.min(first, time));
};

/** The way back ends, either at the start of the saga or at the place from which a rewind goes on. */
const undoneFact = (state: SagaState): Fact => {
  const isLeft = state.effects.some((effect, index) => isLeftOver(state, effect, index));
  if (isLeft) return { direction: 'saga', status: 'compensation_failed' };
  if (state.undoFrom !== undefined) {
    return { direction: 'saga', status: 'step_settled', effect: state.undoFrom };
  }
  return state.rewind === undefined
    ? { direction: 'saga', status: 'compensated' }
    : { direction: 'saga', status: 'rewound', epoch: state.epoch + 1 };
};

const epochOf = (state: SagaState, effect: number): number => state.effects[effect]?.epoch ?? state.epoch;

const undoStarted = (
  step: PinnedToolStep,
  epoch: number,
  attempt: number,
  around: Surroundings,
): Fact & { direction: 'undo'; status: 'started' } => ({
  direction: 'undo',
  status: 'started',
  ...attemptFact(around.sagaId, step, epoch, 'undo', attempt),
  deadlineMs: around.nowMs + secondsOf(step, 'undo') * 1000,
});

/**
 * A compensator whose answer was lost is called again, but only when the first call can no longer act (S3).
 */
const settleUndo = (
  state: SagaState,
  step: PinnedToolStep,
  operation: Operation,
  around: Surroundings,
): Step => {
  const { nowMs } = around;
  const epoch = epochOf(state, operation.effect);
  const safeMs = safeMsOf(step, operation);
  const attempt = attemptFact(around.sagaId, step, epoch, 'undo', operation.attempt);
  const next = undoAgain(step, operation, attempt, {
    nowMs,
    fromMs: operation.deadlineMs,
    safeMs,
    before: attemptsBefore(state, operation),
  });
  if (next.again === 'soon') {
    const atMs = operation.hurried === true ? safeMs : next.atMs;
    return nowMs < atMs
      ? pauseStep(atMs, 'before compensating again, when a lost compensator can no longer act')
      : { facts: [undoStarted(step, epoch, operation.attempt + 1, around)] };
  }
  if (nowMs < safeMs) return pauseStep(safeMs, 'until a lost compensator can no longer act');
  const error = operation.error ?? LOST;
  const place = stepFact(step, epoch);
  if (next.again === 'never') return { facts: [{ direction: 'undo', status: 'failed', ...place, error }] };
  const { attempts, unreached, sinceMs, atMs: untilMs } = next;
  return {
    facts: [{ direction: 'undo', status: 'delayed', ...place, error, attempts, unreached, sinceMs, untilMs }],
  };
};

const progressOperation = (state: SagaState, operation: Operation, around: Surroundings): Step => {
  const step = currentTool(around);
  const epoch = epochOf(state, operation.effect);
  switch (operation.stage) {
    case 'invoking': {
      const attempt = attemptFact(around.sagaId, step, epoch, 'undo', operation.attempt);
      return settleInFlight(state, operation, around, [
        { direction: 'undo', status: 'unknown', ...attempt, error: LOST, callerLost: true },
      ]);
    }
    case 'retry':
      return { facts: [undoStarted(step, epoch, operation.attempt + 1, around)] };
    case 'doubt':
      return settleUndo(state, step, operation, around);
  }
};

export const progressUndo = (state: SagaState, around: Surroundings): Step => {
  if (state.wait?.kind === 'children') return progressChildren(state, state.wait, around);
  if (state.operation !== null) return progressOperation(state, state.operation, around);
  const target = undoTarget(state, around.nowMs);
  if (target !== -1) return { next: { next: 'prepare-undo', effect: target } };
  const againMs = nextDelayedMs(state);
  if (againMs !== undefined) return pauseStep(againMs, 'before compensating again what is delayed');
  return { facts: [undoneFact(state)] };
};

/**
 * Begins to undo an effect: starts its compensator, or leaves it because a later effect on the same resource
 * still stands.
 */
export const startUndo = (
  state: SagaState,
  event: SagaEvent & { type: 'undo-prepared' },
  around: Surroundings,
): Fact[] => {
  const due =
    state.phase === 'undo' &&
    state.operation === null &&
    state.wait === null &&
    undoTarget(state, around.nowMs) === event.effect;
  if (!due) return [];
  const epoch = epochOf(state, event.effect);
  const resource = { resourceKey: event.resourceKey ?? null };
  if (event.blockedBy === undefined && event.step.kind === 'children') {
    return undoChildren(state, event.effect, event.step, event.children ?? 0, around);
  }
  if (event.blockedBy === undefined && event.step.kind !== 'children') {
    const before = state.effects[event.effect]?.undo?.attempts ?? 0;
    return [{ ...undoStarted(event.step, epoch, before + 1, around), ...resource }];
  }
  const error: SagaError = {
    name: 'CompensationBlocked',
    message: `Step ${event.blockedBy} changed the same resource later and is not undone.`,
  };
  return [{ direction: 'undo', status: 'blocked', ...stepFact(event.step, epoch), error, ...resource }];
};
