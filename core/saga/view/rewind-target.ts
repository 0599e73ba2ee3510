/** Finds the place that a rewind goes back to. Pure. */
import type { StepTarget } from '../../../contract/rewind.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { SagaHead } from '../model/head.ts';
import type { EffectRecord, SagaState } from '../model/state.ts';
import type { Story } from './stories.ts';

export interface RewindTarget {
  /** The last step that stays. Null: none. */
  after: string | null;
  /** The first effect that is taken back. */
  floor: number;
  /** The step at which the saga goes on. */
  cursor: number;
}

/** Number of steps that were started since the start or the last rewind, including the one in flight. */
const startedCount = ({ operation, wait, effects, cursor }: SagaState): number => {
  const at = wait?.kind === 'children' ? wait.effect : operation?.effect;
  const inFlight = at === undefined ? undefined : effects[at];
  return inFlight === undefined ? cursor : Math.max(cursor, inFlight.step + 1);
};

/**
 * The step took effect, may have, or answered. A step that was refused or taken back is not counted when
 * going back.
 */
const isStep = ({ status, kind }: EffectRecord): boolean =>
  status === 'committed' || status === 'started' || (status === 'unknown' && kind !== 'read');

/**
 * The places of the steps that may be taken back. The steps of a plan are numbered anew from where it was
 * rewound to. Submitted steps keep their places, so those that do not stand are left out.
 */
const placesOf = ({ state }: SagaHead): number[] =>
  state.interactive === undefined
    ? Array.from({ length: startedCount(state) }, (_, index) => index)
    : state.effects.filter(isStep).map(({ step }) => step);

const cursorOf = (head: SagaHead, stories: readonly Story[], to: StepTarget): number => {
  const { sagaId } = head;
  if ('steps' in to) {
    const places = placesOf(head);
    const cursor = places.at(-to.steps);
    if (to.steps <= places.length && cursor !== undefined) return cursor;
    const has = head.state.interactive === undefined ? 'has started' : 'has';
    const which = head.state.interactive === undefined ? 'steps' : 'steps that stand';
    throw new WalkbackError(
      'InvalidInput',
      `to.steps: saga ${sagaId} ${has} ${places.length} ${which}, so it cannot go back ${to.steps}.`,
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
  // Effects that stand are in the order of their steps, even when earlier rewinds took some of them back.
  const last = stories.findLastIndex(({ effect }) => effect.status === 'committed' && effect.step < cursor);
  return { after: stories[last]?.step ?? null, floor: last + 1, cursor };
};
