/** Ends an abandoned rollback that nobody can finish any more, because its sandbox is being left behind. */
import { isWalkbackError, WalkbackError } from '../../shared/errors.ts';
import type { Clock, Log } from '../../shared/surroundings.ts';
import type { Session } from '../model.ts';
import type { SessionStore } from '../ports/stores.ts';
import { createRollbackJournal } from './rollback-journal.ts';

export const createGiveUpRollback = (deps: { store: SessionStore; clock: Clock; log: Log }) => {
  const { fail } = createRollbackJournal(deps);
  return async (session: Session, why: unknown): Promise<void> => {
    const { busy, sessionId } = session;
    const journal = busy && (await deps.store.getRollback(sessionId, busy.requestId));
    if (journal === undefined || journal.phase === 'done' || journal.phase === 'failed') throw why;
    const reason = isWalkbackError(why) ? why.message : 'its sandbox could not be reached';
    const error = new WalkbackError(
      'RollbackIncomplete',
      `Rollback "${journal.requestId}" was given up when the session was resumed elsewhere: ${reason}`,
      { retryable: false },
    );
    try {
      await fail(journal, error);
    } catch (failure) {
      // `fail` throws what it recorded; anything else means that it did not get that far.
      if (!isWalkbackError(failure, error.name) || failure.message !== error.message) throw failure;
    }
  };
};
