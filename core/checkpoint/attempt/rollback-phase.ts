/** Reads the journal of a rollback. Pure. */
import type { RollbackAnswer } from '../../../contract/rollback-answers.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { Checkpoint, ComposedFacts, RollbackJournal } from '../model.ts';

export const isOpen = ({ phase }: RollbackJournal): boolean => phase !== 'done' && phase !== 'failed';

/** Whether the command that writes may have been sent. */
export const mayHaveWritten = ({ phase }: RollbackJournal): boolean => phase === 'writing';

/**
 * The answer of a journal that ended, or undefined while it is open. For a failed one, throws the recorded
 * error.
 */
export const endedAnswer = (journal: RollbackJournal): RollbackAnswer | undefined => {
  if (journal.phase === 'failed' && journal.error !== undefined) {
    throw new WalkbackError(journal.error.name, journal.error.message, {
      // From now on, this error is the request's answer.
      retryable: false,
      details: { requestId: journal.requestId },
    });
  }
  return journal.phase === 'done' ? journal.result : undefined;
};

/** The review copy a journal works in; undefined for the session's own sandbox. */
export const copyOf = (journal: RollbackJournal): string | undefined =>
  journal.detached ? journal.sandboxId : undefined;

/** What else to say about the target, when this same rollback composed it. */
export const composedFacts = (journal: RollbackJournal, target: Checkpoint): ComposedFacts | undefined =>
  journal.composition === undefined ? undefined : target.composed;
