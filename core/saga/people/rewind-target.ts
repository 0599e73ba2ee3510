/** Finds the place that a rewind goes back to. Pure. */
import type { StepTarget } from '../../../contract/rewind.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { SagaHead } from '../model/head.ts';
import type { SagaState } from '../model/state.ts';
import type { Story } from './stories.ts';

export interface RewindTarget {
  /** The last step that stays. Null: none. */
  after: string | null;
  /** The first effect that is taken back. */
  floor: number;
  /** The step at which the saga goes on. */
  cursor: number;
}

/** Steps that were started on the present way, the one in flight included. */
const startedCount = ({ operation, effects, cursor }: SagaState): number => {
  const inFlight = operation === null ? undefined : effects[operation.effect];
  return inFlight === undefined ? cursor : Math.max(cursor, inFlight.step + 1);
};

const cursorOf = ({ sagaId, state }: SagaHead, stories: readonly Story[], to: StepTarget): number => {
  const started = startedCount(state);
  if ('steps' in to) {
    if (to.steps <= started) return started - to.steps;
    throw new WalkbackError(
      'InvalidInput',
      `to.steps: saga ${sagaId} has started ${started} steps, so it cannot go back ${to.steps}.`,
    );
  }
  const last = stories.findLast(({ step, effect }) => step === to.stepId && effect.status === 'committed');
  if (last !== undefined) return last.effect.step + 1;
  throw new WalkbackError(
    'StepNotFound',
    `Saga ${sagaId} has no finished step ${to.stepId} to go back to; walkback saga show ${sagaId} shows what stands.`,
  );
};

export const rewindTarget = (head: SagaHead, stories: readonly Story[], to: StepTarget): RewindTarget => {
  const cursor = cursorOf(head, stories, to);
  // What stands is in the order of its steps, also when earlier rewinds took some of them back.
  const last = stories.findLastIndex(({ effect }) => effect.status === 'committed' && effect.step < cursor);
  return { after: stories[last]?.step ?? null, floor: last + 1, cursor };
};
