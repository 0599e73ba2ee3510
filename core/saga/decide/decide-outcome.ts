/** What an answer means: the facts of one outcome. Answers to anything but the operation in flight mean nothing (S9). */

import type { Fact, Operation, PinnedStep, SagaState } from '../model.ts';
import { backoffMs, PROBE_BACKOFF_SECONDS } from '../run/timing.ts';
import { idempotencyKey } from '../tools/keys.ts';
import type { OperationId, Outcome, SagaEvent, Surroundings } from './saga-events.ts';

export const operationId = (operation: Operation): OperationId => ({
  effect: operation.effect,
  direction: operation.direction,
  attempt: operation.attempt,
  probes: operation.probes,
});

const isSame = (a: OperationId, b: OperationId): boolean =>
  a.effect === b.effect && a.direction === b.direction && a.attempt === b.attempt && a.probes === b.probes;

/** The members every fact about one attempt shares. */
export const attemptFact = (
  sagaId: string,
  step: PinnedStep,
  epoch: number,
  direction: OperationId['direction'],
  attempt: number,
) => ({
  stepIndex: step.index,
  step: step.id,
  tool: step.tool,
  version: step.version,
  epoch,
  attempt,
  idempotencyKey: idempotencyKey(sagaId, step.index, epoch, direction === 'undo' ? 'undo' : 'forward'),
});

export const stepFact = (step: PinnedStep, epoch: number) => ({
  stepIndex: step.index,
  step: step.id,
  tool: step.tool,
  version: step.version,
  epoch,
});

export const currentStep = (around: Surroundings): PinnedStep => {
  if (around.currentStep === undefined) throw new RangeError('the pinned step in flight is missing');
  return around.currentStep;
};

const pause = (around: Surroundings, ms: number, reason: string): Fact[] =>
  ms <= 0 ? [] : [{ direction: 'saga', status: 'paused', untilMs: around.nowMs + ms, reason }];

type Attempt = ReturnType<typeof attemptFact>;

/** It took effect; when the answer breaks the tool's contract, the saga unwinds it. */
const committedFacts = (
  direction: 'forward' | 'probe',
  step: PinnedStep,
  attempt: Attempt,
  outcome: Outcome & { outcome: 'committed' },
): Fact[] => {
  const { result, externalRef, error } = outcome;
  const committed: Fact = {
    direction,
    status: 'committed',
    ...attempt,
    result,
    ...(externalRef === undefined ? {} : { externalRef }),
    ...(error === undefined ? {} : { error }),
  };
  if (error === undefined) return [committed];
  const failure = { step: step.id, tool: step.tool, error, outcome: 'rejected' as const };
  return [committed, { direction: 'saga', status: 'unwinding', failure }];
};

const forwardFacts = (
  state: SagaState,
  step: PinnedStep,
  attempt: Attempt,
  outcome: Outcome,
  around: Surroundings,
): Fact[] => {
  switch (outcome.outcome) {
    case 'committed':
      return committedFacts('forward', step, attempt, outcome);
    case 'rejected': {
      const again = outcome.retryable && attempt.attempt < step.retry.maxAttempts && !state.cancelRequested;
      const rejected: Fact = {
        direction: 'forward',
        status: 'rejected',
        ...attempt,
        error: outcome.error,
        final: !again,
      };
      if (again)
        return [
          rejected,
          ...pause(around, backoffMs(step.retry, attempt.attempt), 'before the next attempt'),
        ];
      const failure = { step: step.id, tool: step.tool, error: outcome.error, outcome: 'rejected' as const };
      return [rejected, { direction: 'saga', status: 'unwinding', failure }];
    }
    case 'unknown':
      return [
        {
          direction: 'forward',
          status: 'unknown',
          ...attempt,
          error: outcome.error,
          answered: outcome.answered,
          ...(outcome.externalRef === undefined ? {} : { externalRef: outcome.externalRef }),
        },
      ];
    case 'absent':
      return forwardFacts(
        state,
        step,
        attempt,
        {
          outcome: 'unknown',
          error: { name: 'InvalidResult', message: 'the tool answered a call as if it were a probe' },
          answered: true,
        },
        around,
      );
  }
};

const probeFacts = (step: PinnedStep, attempt: Attempt, outcome: Outcome, around: Surroundings): Fact[] => {
  switch (outcome.outcome) {
    case 'committed':
      return committedFacts('probe', step, attempt, outcome);
    case 'absent':
      return [{ direction: 'probe', status: 'absent', ...attempt }];
    case 'rejected':
    case 'unknown':
      return [
        { direction: 'probe', status: 'unknown', ...attempt, error: outcome.error },
        ...pause(around, PROBE_BACKOFF_SECONDS * 1000, 'before the next probe'),
      ];
  }
};

const undoFacts = (step: PinnedStep, attempt: Attempt, outcome: Outcome, around: Surroundings): Fact[] => {
  switch (outcome.outcome) {
    case 'committed':
      return [
        {
          direction: 'undo',
          status: 'committed',
          ...attempt,
          ...(outcome.externalRef === undefined ? {} : { externalRef: outcome.externalRef }),
          ...(outcome.residue === undefined ? {} : { residue: outcome.residue }),
        },
      ];
    case 'absent':
      return [{ direction: 'undo', status: 'committed', ...attempt }];
    case 'unknown':
      return [{ direction: 'undo', status: 'unknown', ...attempt, error: outcome.error }];
    case 'rejected': {
      const rejected: Fact = { direction: 'undo', status: 'rejected', ...attempt, error: outcome.error };
      const retry = step.compensation?.retry;
      if (outcome.retryable && retry !== undefined && attempt.attempt < retry.maxAttempts) {
        return [rejected, ...pause(around, backoffMs(retry, attempt.attempt), 'before compensating again')];
      }
      return [
        rejected,
        { direction: 'undo', status: 'failed', ...stepFact(step, attempt.epoch), error: outcome.error },
      ];
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
  const step = currentStep(around);
  const epoch = state.effects[operation.effect]?.epoch ?? state.epoch;
  const attempt = attemptFact(around.sagaId, step, epoch, operation.direction, operation.attempt);
  switch (operation.direction) {
    case 'forward':
      return forwardFacts(state, step, attempt, event.outcome, around);
    case 'probe':
      return probeFacts(step, attempt, event.outcome, around);
    case 'undo':
      return undoFacts(step, attempt, event.outcome, around);
  }
};
