/** Applies entries about locks and slots to the state (fold.ts). */
import type { SagaState } from '../model/state.ts';
import { type EntryOf, working } from './fold-parts.ts';

/** A saga that waits for a person or a lock lets others run. It needs a slot again before its next step. */
export const withoutSlot = (state: SagaState): SagaState =>
  state.slot === undefined ? state : { ...state, slot: null };

export const applyLock = (state: SagaState, entry: EntryOf<'lock'>): SagaState => {
  switch (entry.status) {
    case 'taken': {
      const { locking: _, ...rest } = working(state);
      return { ...rest, wait: null, locked: true };
    }
    case 'waiting': {
      const { stepIndex: step, semaphores, untilMs } = entry;
      return { ...withoutSlot(working(state)), wait: { kind: 'resource', step, semaphores, untilMs } };
    }
    case 'broken':
      return state;
  }
};

export const applySlot = (state: SagaState, entry: EntryOf<'slot'>): SagaState => {
  switch (entry.status) {
    case 'taken':
      return { ...working(state), wait: null, slot: entry.number };
    case 'queued':
      return {
        ...state,
        status: 'QUEUED',
        pauseUntilMs: null,
        slot: null,
        wait: { kind: 'slot', semaphores: [entry.semaphore], untilMs: null },
      };
  }
};
