/** A saga as one move reads it. */
import type { SagaHead } from '../model/head.ts';
import type { PinnedStep } from '../model/plan.ts';
import type { SagaState } from '../model/state.ts';
import type { SagaStore } from '../ports.ts';
import { stepOfSaga } from './step-of-saga.ts';

/** A saga as it stood when the move began, with its pinned steps. */
export interface Reading {
  store: SagaStore;
  head: SagaHead;
  /** The step at this place of the plan, as it is (or was) in an epoch of this state. */
  step(index: number, state: SagaState, epoch?: number): Promise<PinnedStep>;
}

/** Caches the reads of one move, since pinned steps never change. `fresh`: a step that this move pins. */
export const readingOf = (store: SagaStore, head: SagaHead, fresh?: PinnedStep): Reading => {
  const steps = new Map<string, Promise<PinnedStep>>();
  return {
    store,
    head,
    step: async (index, state, epoch = state.epoch) => {
      if (fresh?.index === index) return fresh;
      const key = `${epoch} ${index}`;
      const known = steps.get(key) ?? stepOfSaga(store, head, { state, index, epoch });
      steps.set(key, known);
      return known;
    },
  };
};
