/**
 * Takes back what a saga did, although nothing failed: the undo of a finished saga, and the rewind, after
 * which it goes forward again (L6). Permission, target and what cannot be undone are checked before. Pure.
 */

import type { Fact } from '../model/ledger-entry.ts';
import { isIdle, type SagaState } from '../model/state.ts';
import { cancelFacts, resumed } from './decide-control.ts';
import type { SagaEvent } from './saga-events.ts';
import { REWINDING, UNDONE } from './turning.ts';

/** A completed saga turns back in a new execution. One that still goes forward is cancelled with it. */
export const undoFacts = (state: SagaState, event: SagaEvent & { type: 'undo' }): Fact[] => {
  const { acceptResidue, evidence } = event;
  const why = evidence === undefined ? {} : { evidence };
  const asked: Fact = {
    direction: 'saga',
    status: 'undo_requested',
    ...(acceptResidue ? { acceptResidue } : {}),
    ...why,
  };
  if (state.status === 'COMPLETED') return [asked, UNDONE, resumed(state, 'undone')];
  const cancel = cancelFacts(state, why);
  return cancel.length === 0 ? [] : [asked, ...cancel];
};

export const isRewindable = ({ phase, status, rewind, cancelRequested }: SagaState): boolean =>
  (phase === 'forward' || status === 'COMPLETED') && rewind === undefined && !cancelRequested;

/**
 * Records the rewind. A wait or a pause ends at once, and an operation in flight is settled first, as when
 * the saga is cancelled.
 */
export const rewindFacts = (state: SagaState, event: SagaEvent & { type: 'rewind' }): Fact[] => {
  if (!isRewindable(state)) return [];
  const { type: _, ...asked } = event;
  const requested: Fact = { direction: 'saga', status: 'rewind_requested', ...asked };
  if (state.phase === 'done') return [requested, REWINDING, resumed(state, 'rewound')];
  if (isIdle(state.wait)) return [requested, REWINDING, resumed(state, 'rewound')];
  // Its children are unwound first.
  if (state.wait?.kind === 'children') return [requested];
  if (state.wait !== null) return [requested, REWINDING];
  return state.status === 'PAUSED' ? [requested, resumed(state, 'rewound')] : [requested];
};
