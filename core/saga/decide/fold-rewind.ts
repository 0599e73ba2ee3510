/** Applies entries that take a saga back although nothing failed (fold.ts). */
import type { SagaState } from '../model/state.ts';
import { isFinal } from './effects.ts';
import type { EntryOf } from './fold-parts.ts';

/** What nothing takes back was accepted, so no person is asked about it again. */
export const acceptResidue = (state: SagaState, from = 0): SagaState => ({
  ...state,
  effects: state.effects.map((effect, index) =>
    index >= from && isFinal(effect) ? { ...effect, status: 'skipped' as const } : effect,
  ),
});

export const applyUndoRequest = (
  state: SagaState,
  entry: EntryOf<'saga'> & { status: 'undo_requested' },
): SagaState => {
  const asked = { ...state, undoRequested: true as const };
  return entry.acceptResidue === true ? acceptResidue(asked) : asked;
};
