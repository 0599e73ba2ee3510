/** Takes back what a saga did, although nothing failed: the undo of a finished saga. Pure. */

import type { Fact } from '../model/ledger-entry.ts';
import type { SagaState } from '../model/state.ts';
import { resumed } from './decide-control.ts';
import type { SagaEvent } from './saga-events.ts';

const UNDONE: Fact = {
  direction: 'saga',
  status: 'unwinding',
  failure: {
    step: null,
    tool: null,
    error: { name: 'Undone', message: 'The finished saga was undone.' },
    outcome: 'cancelled',
  },
};

/** A completed saga turns back in a new execution. Permission and what cannot be undone are checked before. */
export const undoFacts = (state: SagaState, event: SagaEvent & { type: 'undo' }): Fact[] => {
  if (state.status !== 'COMPLETED') return [];
  const { acceptResidue, evidence } = event;
  return [
    {
      direction: 'saga',
      status: 'undo_requested',
      ...(acceptResidue ? { acceptResidue } : {}),
      ...(evidence === undefined ? {} : { evidence }),
    },
    UNDONE,
    resumed(state, 'undone'),
  ];
};
