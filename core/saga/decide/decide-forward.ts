/** The way forward: starts the next step, or settles the one in doubt (S1, S2, S3, S6). */

import type { Fact, SagaError } from '../model/ledger-entry.ts';
import type { PinnedToolStep } from '../model/plan.ts';
import type { Operation, SagaState, Wait } from '../model/state.ts';
import { backoffMs, MAX_PROBES } from '../model/timing.ts';
import { spentAttempts, spentProbes } from './attempts.ts';
import { mayActMs, safeMsOf } from './deadlines.ts';
import { progressChildren } from './decide-children.ts';
import { expiredFacts } from './decide-control.ts';
import { failedFacts, progressNextStep, refusedFacts } from './decide-interactive.ts';
import { fencingTokenOf, progressResource, takePermits } from './decide-permits.ts';
import { attemptFact, currentTool, operationId, pauseStep, stepFact } from './facts.ts';
import { stepCountOf } from './plan-in-force.ts';
import type { SagaEvent, Step, Surroundings } from './saga-events.ts';
import { turningFact } from './turning.ts';

const LOST: SagaError = {
  name: 'OutcomeUnknown',
  message: 'The call was started and its answer is not known.',
};

/**
 * An operation is in flight, and the engine asks what to do. An execution asks only before it has invoked,
 * so until it answers, it is told the same again. If another execution was told to invoke, or the deadline passed
 * before this one could, the call may have happened, so it is in doubt. It uses up no attempt.
 */
export const settleInFlight = (
  state: SagaState,
  operation: Operation,
  around: Surroundings,
  lost: Fact[],
): Step => {
  if (operation.generation === state.generation && around.nowMs < operation.deadlineMs) {
    return { next: { next: 'invoke', operation: operationId(operation), deadlineMs: operation.deadlineMs } };
  }
  const safeMs = safeMsOf(currentTool(around), operation);
  if (around.nowMs < safeMs) return pauseStep(safeMs, 'until a lost call can no longer act');
  return { facts: lost };
};

/** The last attempt's key is still known to the provider, with room for one more call. */
const windowIsOpen = (step: PinnedToolStep, operation: Operation, nowMs: number): boolean =>
  nowMs + mayActMs(step, 'forward') < operation.firstMs + step.idempotencyWindowSeconds * 1000;

const mayRepeat = (step: PinnedToolStep, operation: Operation, nowMs: number): boolean => {
  if (spentAttempts(operation, nowMs) >= step.retry.maxAttempts) return false;
  if (step.effect === 'read') return true;
  const futile = step.replaysErrors && operation.answered;
  return !futile && (operation.probed === 'absent' || windowIsOpen(step, operation, nowMs));
};

const PROBED = {
  absent: 'Asked afterwards, the provider said that it did not happen.',
  unknown: 'Asked afterwards, the provider did not say whether it happened.',
} as const;

/** Why a doubt was not settled. */
const doubtError = ({ error, probed }: Operation): SagaError => {
  const { name, message } = error ?? LOST;
  return probed === null ? { name, message } : { name, message: `${message} ${PROBED[probed]}` };
};

const repeated = (
  state: SagaState,
  step: PinnedToolStep,
  operation: Operation,
  around: Surroundings,
): Fact => ({
  direction: 'forward',
  status: 'started',
  ...attemptFact(around.sagaId, step, state.epoch, 'forward', operation.attempt + 1),
  effect: step.effect,
  deadlineMs: around.nowMs + step.timeoutSeconds * 1000,
  argumentsHash: operation.argumentsHash,
});

/**
 * Doubt is settled in this order: probe, the same key again inside its window or after a probe that said no,
 * compensate by key (S2). A lost
 * read cannot act late, and its pause has passed before this is decided.
 */
const settleDoubt = (
  state: SagaState,
  step: PinnedToolStep,
  operation: Operation,
  around: Surroundings,
): Step => {
  const isRead = step.effect === 'read';
  const safeMs = safeMsOf(step, operation);
  if (!isRead && around.nowMs < safeMs) return pauseStep(safeMs, 'until a lost call can no longer act');
  if (step.probe && operation.probed !== 'absent' && spentProbes(operation, around.nowMs) < MAX_PROBES) {
    const attempt = attemptFact(around.sagaId, step, state.epoch, 'probe', operation.attempt);
    const deadlineMs = around.nowMs + step.timeoutSeconds * 1000;
    return { facts: [{ direction: 'probe', status: 'started', ...attempt, deadlineMs }] };
  }
  const turn = turningFact(state);
  if (turn !== undefined) return { facts: [turn] };
  if (!mayRepeat(step, operation, around.nowMs)) {
    return { facts: failedFacts(state, step, doubtError(operation), 'unknown') };
  }
  const resumeMs = operation.deadlineMs + backoffMs(step.retry, operation.attempt);
  if (!isRead && around.nowMs < resumeMs) return pauseStep(resumeMs, 'before the next attempt');
  return { facts: [repeated(state, step, operation, around)] };
};

const progressOperation = (state: SagaState, operation: Operation, around: Surroundings): Step => {
  const step = currentTool(around);
  switch (operation.stage) {
    case 'invoking': {
      const attempt = attemptFact(around.sagaId, step, state.epoch, operation.direction, operation.attempt);
      const lost: Fact =
        operation.direction === 'probe'
          ? { direction: 'probe', status: 'unknown', ...attempt, error: LOST, callerLost: true }
          : {
              direction: 'forward',
              status: 'unknown',
              ...attempt,
              error: LOST,
              answered: false,
              callerLost: true,
            };
      return settleInFlight(state, operation, around, [lost]);
    }
    case 'retry':
      // The last attempt did nothing, but an earlier one may have. Repeating is safe only while the
      // provider still knows the key.
      if (operation.doubted && !mayRepeat(step, operation, around.nowMs)) {
        return settleDoubt(state, step, operation, around);
      }
      return { facts: [turningFact(state) ?? repeated(state, step, operation, around)] };
    case 'doubt':
      return settleDoubt(state, step, operation, around);
  }
};

const progressApproval = (
  state: SagaState,
  wait: Extract<Wait, { kind: 'approval' }>,
  around: Surroundings,
): Step => {
  const facts = expiredFacts(state, around);
  return facts.length > 0 ? { facts } : { next: { next: 'await', step: wait.step, untilMs: wait.untilMs } };
};

/** The one place that decides how a wait of each kind ends. */
const progressWait = (state: SagaState, wait: Wait, around: Surroundings): Step => {
  switch (wait.kind) {
    case 'approval':
      return progressApproval(state, wait, around);
    case 'next-step':
      return progressNextStep(state, wait, around);
    case 'parked':
      return { next: { next: 'idle' } };
    case 'children':
      return progressChildren(state, wait, around);
    case 'resource':
      return progressResource(state, wait, around);
    case 'slot':
      return { next: { next: 'end', status: 'QUEUED' } };
  }
};

export const progressForward = (state: SagaState, around: Surroundings): Step => {
  if (state.wait !== null) return progressWait(state, state.wait, around);
  if (state.operation !== null) return progressOperation(state, state.operation, around);
  const turn = turningFact(state);
  if (turn !== undefined) return { facts: [turn] };
  if (state.cursor >= stepCountOf(state)) {
    if (state.output === true) return { next: { next: 'prepare-output' } };
    return { facts: [{ direction: 'saga', status: 'completed' }] };
  }
  if (state.locking === true) return { next: { next: 'prepare-locks' } };
  return { next: { next: 'prepare', step: state.cursor } };
};

/**
 * Starts the step at the cursor with its arguments: asks a person first, or records the intent and goes on.
 */
export const startStep = (
  state: SagaState,
  event: SagaEvent & { type: 'prepared' | 'unprepared' },
  around: Surroundings,
): Fact[] => {
  const { step } = event;
  const due =
    state.phase === 'forward' &&
    state.operation === null &&
    (state.wait === null || state.wait.kind === 'resource') &&
    state.cursor === step.index;
  if (!due) return [];
  if (event.type === 'unprepared') return refusedFacts(state, step, event.error);
  if (step.approval !== undefined && state.approvedStep !== step.index) {
    return [
      {
        direction: 'approval',
        status: 'requested',
        ...stepFact(step, state.epoch),
        untilMs: around.nowMs + step.approval.timeoutSeconds * 1000,
        ...(step.approval.prompt === undefined ? {} : { prompt: step.approval.prompt }),
        arguments: event.arguments,
        argumentsHash: event.argumentsHash,
        ...event.money,
      },
    ];
  }
  if (state.approvedHash !== undefined && state.approvedHash !== event.argumentsHash) {
    const message = `The arguments of step ${step.id} are not the ones that were approved.`;
    return refusedFacts(state, step, { name: 'ArgumentsChanged', message });
  }
  const { facts, isReady } = takePermits(state, event, around);
  if (!isReady) return facts;
  const started = {
    direction: 'forward',
    status: 'started',
    ...attemptFact(around.sagaId, step, state.epoch, 'forward', 1),
    effect: step.effect,
    deadlineMs: step.timeoutSeconds === undefined ? 0 : around.nowMs + step.timeoutSeconds * 1000,
    arguments: event.arguments,
    argumentsHash: event.argumentsHash,
  } as const;
  if (step.kind === 'children') return [...facts, { ...started, children: event.children ?? [] }];
  return [
    ...facts,
    {
      ...started,
      ...(event.resourceKey === undefined ? {} : { resourceKey: event.resourceKey }),
      ...(step.idempotencyWindowSeconds > 0
        ? { keyExpiresMs: around.nowMs + step.idempotencyWindowSeconds * 1000 }
        : {}),
      ...(state.submitted?.index === step.index ? { planHash: state.submitted.planHash } : {}),
      ...fencingTokenOf(event.lock),
    },
  ];
};
