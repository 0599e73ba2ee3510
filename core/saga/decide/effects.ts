/** What an effect still means for the way back. */
import type { EffectRecord, SagaState } from '../model/state.ts';

const mayHaveHappened = ({ status }: EffectRecord): boolean =>
  status === 'started' || status === 'committed' || status === 'unknown';

export const isUndoable = (effect: EffectRecord): boolean =>
  (effect.kind === 'compensatable' || effect.kind === 'partial') && mayHaveHappened(effect);

/** It happened or may have happened, and nothing takes it back. */
export const isFinal = (effect: EffectRecord): boolean =>
  effect.kind === 'irreversible' && mayHaveHappened(effect);

/** Branches that failed while their step stands. */
export const branchesFailedIn = ({ effects }: Pick<SagaState, 'effects'>): number =>
  effects.reduce(
    (sum, { status, branchesFailed = 0 }) => sum + (status === 'committed' ? branchesFailed : 0),
    0,
  );

/** A person let it stand: an operator skipped it, or an undo or a rewind was allowed to leave it. */
export const isLetStand = ({ kind, status, children }: EffectRecord): boolean =>
  status === 'skipped' && kind !== 'read' && children !== true;

/**
 * Whether an effect is left over after unwinding: its compensator is delayed, failed or blocked, or nothing
 * takes it back.
 */
const isResidue = (effect: EffectRecord): boolean =>
  effect.status === 'undo_delayed' ||
  effect.status === 'undo_failed' ||
  effect.status === 'blocked' ||
  isFinal(effect);

/** A rewind does not touch the effects before its floor. Neither does the way back of a single step. */
export const isInRange = ({ rewind, undoFrom = 0 }: SagaState, index: number): boolean =>
  index >= (rewind?.floor ?? undoFrom);

/** Whether an effect prevents the way back from ending. A rewind may accept what nothing takes back. */
export const isLeftOver = (state: SagaState, effect: EffectRecord, index: number): boolean =>
  isInRange(state, index) &&
  isResidue(effect) &&
  !(state.rewind?.acceptResidue === true && effect.kind === 'irreversible');
