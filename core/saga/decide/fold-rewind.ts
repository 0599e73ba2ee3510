/** Applies entries that take a saga back although nothing failed (fold.ts). */
import type { SagaState } from '../model/state.ts';
import { isFinal } from './effects.ts';
import { afterStep } from './fold-interactive.ts';
import { type EntryOf, working } from './fold-parts.ts';
import { reopenFailed } from './fold-undo.ts';
import { CANCELLED } from './turning.ts';

type SagaEntry<Status extends string> = EntryOf<'saga'> & { status: Status };

/** What nothing takes back was accepted, so no person is asked about it again. */
const acceptResidue = (state: SagaState, from = 0): SagaState => ({
  ...state,
  effects: state.effects.map((effect, index) =>
    index >= from && index !== state.operation?.effect && isFinal(effect)
      ? { ...effect, status: 'skipped' as const }
      : effect,
  ),
});

export const applyUndoRequest = (state: SagaState, entry: SagaEntry<'undo_requested'>): SagaState => {
  const asked = { ...state, undoRequested: true as const };
  return entry.acceptResidue === true ? acceptResidue(asked) : asked;
};

/**
 * A pause ends here. The next decision sets a new wait from the deadlines if one is still needed. A rewind,
 * or the way back of one step, is given up: from then on everything is undone, also what could not be undone
 * before.
 */
export const applyCancel = (state: SagaState): SagaState => {
  const isGivenUp = state.rewind !== undefined || state.undoFrom !== undefined;
  const { rewind: _, undoFrom: __, ...rest } = working(isGivenUp ? reopenFailed(state) : state);
  const cancelled = { ...rest, cancelRequested: true };
  return state.phase === 'undo' ? { ...cancelled, failure: CANCELLED.failure } : cancelled;
};

export const applyRewindRequest = (state: SagaState, entry: SagaEntry<'rewind_requested'>): SagaState => {
  const { requestId, floor, cursor, acceptResidue: accepts, plan } = entry;
  return {
    ...working(state),
    rewind: {
      requestId,
      floor,
      cursor,
      ...(accepts === true ? { acceptResidue: true } : {}),
      ...(plan === undefined ? {} : { plan: { planHash: plan.planHash, stepCount: plan.stepCount } }),
    },
  };
};

/** Everything in the rewind's range is undone. The saga goes forward again, in the next epoch. */
export const applyRewound = (state: SagaState, { epoch, at }: SagaEntry<'rewound'>): SagaState => {
  const { rewind, approvedHash: _, ...rest } = state;
  if (rewind === undefined) throw new RangeError('the ledger ends a rewind that was never asked for');
  const { cursor, floor, plan } = rewind;
  const { effects } = rewind.acceptResidue === true ? acceptResidue(state, floor) : state;
  const rewound: SagaState = {
    ...working({ ...rest, phase: 'forward' }),
    epoch,
    cursor,
    effects,
    wait: null,
    approvedStep: null,
    failure: null,
    ...(plan === undefined ? {} : { plans: [...(rest.plans ?? []), { epoch, from: cursor, ...plan }] }),
  };
  // The places of submitted steps only grow, so that the next one has a place of its own.
  return afterStep(rewound, state.stepCount - 1, at);
};
