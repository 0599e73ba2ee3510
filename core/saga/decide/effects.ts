/** What an effect still means for the way back. */
import type { EffectRecord } from '../model/state.ts';

export const mayHaveHappened = ({ status }: EffectRecord): boolean =>
  status === 'started' || status === 'committed' || status === 'unknown';

export const isUndoable = (effect: EffectRecord): boolean =>
  (effect.kind === 'compensatable' || effect.kind === 'partial') && mayHaveHappened(effect);

/** It happened, or may have, and nothing takes it back. */
export const isFinal = (effect: EffectRecord): boolean =>
  effect.kind === 'irreversible' && mayHaveHappened(effect);

/**
 * Whether an effect is left over after unwinding: its compensator is delayed, failed or blocked, or nothing
 * takes it back.
 */
export const isResidue = (effect: EffectRecord): boolean =>
  effect.status === 'undo_delayed' ||
  effect.status === 'undo_failed' ||
  effect.status === 'blocked' ||
  isFinal(effect);
