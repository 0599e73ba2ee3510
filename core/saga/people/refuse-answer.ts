/** Says why a step does not accept an answer, when no answer is recorded for it. */
import { mapAtOnce } from '../../shared/at-once.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { stepCountOf } from '../decide/plan-in-force.ts';
import type { SagaHead } from '../model/head.ts';
import type { PinnedStep } from '../model/plan.ts';
import type { SagaStore } from '../ports.ts';
import { readingOf } from '../prepare/reading.ts';

const AT_ONCE = 8;

const findStep = async (
  store: SagaStore,
  head: SagaHead,
  stepId: string,
): Promise<PinnedStep | undefined> => {
  const { sagaId, state } = head;
  if (state.interactive !== undefined) return (await store.getSubmittedStep(sagaId, stepId))?.step;
  const reading = readingOf(store, head);
  const places = Array.from({ length: stepCountOf(state) }, (_, index) => index);
  const steps = await mapAtOnce(places, AT_ONCE, (index) => reading.step(index, state));
  return steps.find(({ id }) => id === stepId);
};

/** Throws `StepNotFound` when the saga has no such step. */
export const requireStep = async (store: SagaStore, head: SagaHead, stepId: string): Promise<PinnedStep> => {
  const step = await findStep(store, head, stepId);
  if (step !== undefined) return step;
  throw new WalkbackError('StepNotFound', `Saga ${head.sagaId} has no step ${stepId}.`);
};

/** Throws `StepNotFound` or `OperationRefused`. */
export const refuseAnswer = async (store: SagaStore, head: SagaHead, stepId: string): Promise<never> => {
  const step = await requireStep(store, head, stepId);
  const isGated = 'approval' in step && step.approval !== undefined;
  throw new WalkbackError(
    'OperationRefused',
    isGated
      ? `Saga ${head.sagaId} is ${head.state.status}, and does not ask about step ${stepId} now.`
      : `Step ${stepId} of saga ${head.sagaId} needs no approval.`,
  );
};
