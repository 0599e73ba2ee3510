/** The members that facts of one kind share, and the inputs of a decision. */

import { idempotencyKey } from '../model/keys.ts';
import type { PinnedStep, PinnedToolStep } from '../model/plan.ts';
import type { Operation } from '../model/state.ts';
import type { OperationId, Step, Surroundings } from './saga-events.ts';

export const operationId = (operation: Operation): OperationId => ({
  effect: operation.effect,
  direction: operation.direction,
  attempt: operation.attempt,
  probes: operation.probes,
});

export const stepFact = (step: PinnedStep, epoch: number) => ({
  stepIndex: step.index,
  step: step.id,
  tool: step.tool,
  version: step.version,
  epoch,
});

/** The members that every fact about one attempt shares. */
export const attemptFact = (
  sagaId: string,
  step: PinnedStep,
  epoch: number,
  direction: OperationId['direction'],
  attempt: number,
) => ({
  ...stepFact(step, epoch),
  attempt,
  idempotencyKey: idempotencyKey(sagaId, step.index, epoch, direction === 'undo' ? 'undo' : 'forward'),
});

export type Attempt = ReturnType<typeof attemptFact>;

export const currentStep = (around: Surroundings): PinnedStep => {
  if (around.currentStep === undefined) throw new RangeError('the pinned step in flight is missing');
  return around.currentStep;
};

/** The current step of an operation. Only a step with a tool has operations. */
export const currentTool = (around: Surroundings): PinnedToolStep => {
  const step = currentStep(around);
  if (step.kind === 'children') throw new RangeError(`step ${step.id} calls no tool`);
  return step;
};

export const pauseStep = (untilMs: number, reason: string): Step => ({
  facts: [{ direction: 'saga', status: 'paused', untilMs, reason }],
});
