/** Finds which pinned plan holds a step. A rewind may go on with other steps, and earlier effects keep theirs. */
import type { SagaState } from '../model/state.ts';

/** The hash of the plan that step `index` belongs to, when it is or was started in this epoch. */
export const planHashAt = (
  { planHash }: { planHash: string },
  { plans = [] }: Pick<SagaState, 'plans'>,
  index: number,
  epoch: number,
): string => plans.findLast((plan) => plan.epoch <= epoch && plan.from <= index)?.planHash ?? planHash;

/** How many steps the saga has now. */
export const stepCountOf = ({ plans = [], stepCount }: SagaState): number =>
  plans.at(-1)?.stepCount ?? stepCount;
