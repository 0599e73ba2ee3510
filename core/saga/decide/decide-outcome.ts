/**
 * Turns an answer into the facts of one outcome. Answers to anything but the operation in flight are
 * ignored (S9).
 */

import type { Fact } from '../model/ledger-entry.ts';
import type { PinnedToolStep } from '../model/plan.ts';
import type { Operation, SagaState } from '../model/state.ts';
import { PROBE_BACKOFF_SECONDS, retryAfterMs, STOP_MS, unreachedBackoffMs } from '../model/timing.ts';
import { pauseAfterMs, type Refusal, refusalFact, spentAttempts } from './attempts.ts';
import { secondsOf } from './deadlines.ts';
import { failedFacts, rejectedFacts } from './decide-interactive.ts';
import { type Attempt, attemptFact, currentTool, operationId } from './facts.ts';
import type { OperationId, Outcome, SagaEvent, Surroundings } from './saga-events.ts';
import { turningFact } from './turning.ts';
import { undoFailureFacts } from './undo-failure.ts';

/** An answer. When the call took effect, also what it moved. */
type Answered = Pick<SagaEvent & { type: 'outcome' }, 'outcome' | 'price' | 'link' | 'givenSeconds'>;

const isSame = (a: OperationId, b: OperationId): boolean =>
  a.effect === b.effect && a.direction === b.direction && a.attempt === b.attempt && a.probes === b.probes;

const pause = (around: Surroundings, ms: number, reason: string): Fact[] =>
  ms <= 0 ? [] : [{ direction: 'saga', status: 'paused', untilMs: around.nowMs + ms, reason }];

/**
 * The call's time ran out, but it did not get all of its time: the function that was to make it died and came
 * back in the middle. That counts as a lost caller too, so it uses up no attempt.
 */
const cutShort = (
  { direction, deadlineMs }: Operation,
  step: PinnedToolStep,
  { outcome, givenSeconds = Infinity }: Answered,
  { nowMs }: Surroundings,
): { callerLost?: true } => {
  const ranOut = outcome.outcome === 'unknown' && !outcome.answered && nowMs >= deadlineMs - STOP_MS;
  return ranOut && givenSeconds < secondsOf(step, direction) ? { callerLost: true } : {};
};

/** The call took effect. If the answer breaks the tool's contract, the saga unwinds it. */
const committedFacts = (
  state: SagaState,
  direction: 'forward' | 'probe',
  step: PinnedToolStep,
  attempt: Attempt,
  outcome: Outcome & { outcome: 'committed' },
  { price, link }: Answered,
): Fact[] => {
  const { result, externalRef, error } = outcome;
  const committed: Fact = {
    direction,
    status: 'committed',
    ...attempt,
    result,
    ...(externalRef === undefined ? {} : { externalRef }),
    ...price,
    ...link,
    ...(error === undefined ? {} : { error }),
  };
  if (error === undefined) return [committed];
  return [committed, ...failedFacts(state, step, error, 'rejected')];
};

const forwardFacts = (
  state: SagaState,
  operation: Operation,
  step: PinnedToolStep,
  attempt: Attempt,
  answered: Answered,
  around: Surroundings,
): Fact[] => {
  const { outcome } = answered;
  switch (outcome.outcome) {
    case 'committed':
      return committedFacts(state, 'forward', step, attempt, outcome, answered);
    case 'rejected': {
      const spent = spentAttempts(operation, around.nowMs, outcome);
      const again = outcome.retryable && spent < step.retry.maxAttempts && turningFact(state) === undefined;
      const rejected: Fact = {
        direction: 'forward',
        status: 'rejected',
        ...attempt,
        error: outcome.error,
        final: !again,
        ...refusalFact(outcome),
      };
      if (again) {
        const pauseMs = pauseAfterMs(step.retry, operation, attempt, outcome);
        return [rejected, ...pause(around, pauseMs, 'before the next attempt')];
      }
      const ends = operation.doubted ? failedFacts : rejectedFacts;
      return [rejected, ...ends(state, step, outcome.error, 'rejected')];
    }
    case 'unknown': {
      const unknown: Fact = {
        direction: 'forward',
        status: 'unknown',
        ...attempt,
        error: outcome.error,
        answered: outcome.answered,
        ...cutShort(operation, step, answered, around),
        ...(outcome.externalRef === undefined ? {} : { externalRef: outcome.externalRef }),
      };
      // A read cannot act late, so there is nothing else to wait for.
      const again =
        step.effect === 'read' &&
        spentAttempts(operation, around.nowMs) < step.retry.maxAttempts &&
        turningFact(state) === undefined;
      const pauseMs = again ? pauseAfterMs(step.retry, operation, attempt, {}) : 0;
      return [unknown, ...pause(around, pauseMs, 'before the next attempt')];
    }
    case 'absent':
      return forwardFacts(
        state,
        operation,
        step,
        attempt,
        {
          outcome: {
            outcome: 'unknown',
            error: { name: 'InvalidResult', message: 'the tool answered a call as if it were a probe' },
            answered: true,
          },
        },
        around,
      );
  }
};

const probeFacts = (
  state: SagaState,
  operation: Operation,
  step: PinnedToolStep,
  attempt: Attempt,
  answered: Answered,
  around: Surroundings,
): Fact[] => {
  const { outcome } = answered;
  switch (outcome.outcome) {
    case 'committed':
      return committedFacts(state, 'probe', step, attempt, outcome, answered);
    case 'absent':
      return [{ direction: 'probe', status: 'absent', ...attempt }];
    case 'rejected':
    case 'unknown': {
      const refusal: Refusal = outcome.outcome === 'rejected' ? outcome : {};
      const backoff =
        refusal.reached === false
          ? unreachedBackoffMs(attempt.idempotencyKey, (operation.unreachedProbes ?? 0) + 1)
          : PROBE_BACKOFF_SECONDS * 1000;
      return [
        {
          direction: 'probe',
          status: 'unknown',
          ...attempt,
          error: outcome.error,
          ...refusalFact(refusal),
          ...cutShort(operation, step, answered, around),
        },
        ...pause(around, Math.max(backoff, retryAfterMs(refusal.retryAfterSeconds)), 'before the next probe'),
      ];
    }
  }
};

const undoFacts = (
  state: SagaState,
  operation: Operation,
  step: PinnedToolStep,
  attempt: Attempt,
  answered: Answered,
  around: Surroundings,
): Fact[] => {
  const { outcome, price = {} } = answered;
  switch (outcome.outcome) {
    case 'committed':
      return [
        {
          direction: 'undo',
          status: 'committed',
          ...attempt,
          ...(outcome.externalRef === undefined ? {} : { externalRef: outcome.externalRef }),
          ...(outcome.residue === undefined ? {} : { residue: outcome.residue }),
          ...price,
        },
      ];
    case 'absent':
      return [{ direction: 'undo', status: 'committed', ...attempt, ...price }];
    case 'unknown':
      return [
        {
          direction: 'undo',
          status: 'unknown',
          ...attempt,
          error: outcome.error,
          ...cutShort(operation, step, answered, around),
        },
      ];
    case 'rejected': {
      const { error } = outcome;
      const rejected: Fact = {
        direction: 'undo',
        status: 'rejected',
        ...attempt,
        error,
        ...refusalFact(outcome),
      };
      return [rejected, ...undoFailureFacts(state, operation, step, attempt, outcome, around)];
    }
  }
};

export const outcomeFacts = (
  state: SagaState,
  event: SagaEvent & { type: 'outcome' },
  around: Surroundings,
): Fact[] => {
  const { operation } = state;
  if (
    operation === null ||
    operation.stage !== 'invoking' ||
    !isSame(operationId(operation), event.operation)
  )
    return [];
  const step = currentTool(around);
  const epoch = state.effects[operation.effect]?.epoch ?? state.epoch;
  const attempt = attemptFact(around.sagaId, step, epoch, operation.direction, operation.attempt);
  switch (operation.direction) {
    case 'forward':
      return forwardFacts(state, operation, step, attempt, event, around);
    case 'probe':
      return probeFacts(state, operation, step, attempt, event, around);
    case 'undo':
      return undoFacts(state, operation, step, attempt, event, around);
  }
};
