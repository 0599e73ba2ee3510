/**
 * Ends an abandoned rollback as it stands, because its sandbox is being left behind: the session is resumed
 * in another one, or ended. Nothing is written into the sandbox.
 */
import { isWalkbackError, WalkbackError } from '../../shared/errors.ts';
import type { Clock, Log } from '../../shared/surroundings.ts';
import { createRollbackJournal } from '../attempt/rollback-journal.ts';
import { isOpen, mayHaveWritten } from '../attempt/rollback-state.ts';
import type { Session } from '../model.ts';
import type { SessionStore } from '../ports/stores.ts';
import { abandonedError, settledRollback } from './settled-rollback.ts';

export const createGiveUpRollback = (deps: { store: SessionStore; clock: Clock; log: Log }) => {
  const { close } = createRollbackJournal(deps);
  /** Throws `why` when there is no rollback to give up. */
  return async (session: Session, by: string, why: unknown): Promise<void> => {
    const { busy, sessionId } = session;
    const journal = busy?.kind === 'rollback' && (await deps.store.getRollback(sessionId, busy.requestId));
    if (!journal || !isOpen(journal)) throw why;
    const reason = isWalkbackError(why) ? why.message.replace(/\.$/, '') : 'its sandbox could not be reached';
    const outcome = mayHaveWritten(journal) ? 'given-up' : 'closed';
    const settled = settledRollback(journal, { by, outcome, kept: [], why: reason }, deps.clock);
    const error =
      outcome === 'closed'
        ? abandonedError(settled)
        : new WalkbackError('RollbackIncomplete', `${settled.message} It was given up by ${by}.`, {
            retryable: false,
          });
    await close({ ...journal, settled }, error);
  };
};
