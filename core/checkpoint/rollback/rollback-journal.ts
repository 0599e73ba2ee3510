/**
 * The writes of one rollback after it has begun: who works on it, what was captured, how it ended. Each moves the
 * journal and its timeline in one transaction, so neither is ever ahead of the other.
 */
import type { RollbackAnswer } from '../../../contract/checkpoint-answers.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { rollbackToolId } from '../../shared/ids.ts';
import type { Clock, Log } from '../../shared/surroundings.ts';
import type { Captured } from '../capture/capture-report.ts';
import { createCheckpoint, touch } from '../capture/checkpoint-item.ts';
import type { Checkpoint, RollbackJournal } from '../model.ts';
import type { SessionStore } from '../ports/stores.ts';
import { busyOf, findPlace, headSeqOf, movePlace, type Place } from '../session/place.ts';
import { unfinished } from './restore-errors.ts';

const MAX_ATTEMPTS = 6;

/** The answer of a journal that ended; undefined while it is open. A failed one throws what it failed with. */
export const endedAnswer = (journal: RollbackJournal): RollbackAnswer | undefined => {
  if (journal.phase === 'failed' && journal.error !== undefined) {
    throw new WalkbackError(journal.error.name, journal.error.message, {
      // It is this request's answer from now on.
      retryable: false,
      details: { requestId: journal.requestId },
    });
  }
  return journal.phase === 'done' ? journal.result : undefined;
};

/** The review copy a journal works in; undefined for the session's own sandbox. */
export const copyOf = (journal: RollbackJournal): string | undefined =>
  journal.detached ? journal.sandboxId : undefined;

export const createRollbackJournal = (deps: { store: SessionStore; clock: Clock; log: Log }) => {
  const { store, clock, log } = deps;

  /** Ends the journal, whatever else moves the timeline meanwhile; answers what it ended with. */
  const end = async (journal: RollbackJournal, headSeq: number | undefined): Promise<RollbackAnswer> => {
    const ended = { ...journal, updatedAt: clock.now().toISOString() };
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const place = await findPlace(store, journal.sessionId, copyOf(journal));
      const busy = busyOf(place);
      const change = { headSeq, busy: busy?.requestId === journal.requestId ? undefined : busy };
      const outcome = await store.endRollback(ended, movePlace(place, change, clock));
      const stored = outcome.written ? ended : await store.getRollback(journal.sessionId, journal.requestId);
      const answer = stored === undefined ? undefined : endedAnswer(stored);
      if (answer !== undefined) return answer;
      await clock.sleep(20 * 2 ** attempt);
    }
    throw unfinished(journal.requestId, 'the session is being written by others all the time.');
  };

  return {
    finish: (journal: RollbackJournal, result: RollbackAnswer, headSeq: number): Promise<RollbackAnswer> =>
      end({ ...journal, phase: 'done', result }, headSeq),

    /** Ends it with an error, which this and every later call of the request throws. `headSeq`: where the sandbox stands. */
    fail: (journal: RollbackJournal, error: WalkbackError, headSeq?: number): Promise<RollbackAnswer> => {
      log.warn('rollback failed', { requestId: journal.requestId, name: error.name });
      return end(
        { ...journal, phase: 'failed', error: { name: error.name, message: error.message } },
        headSeq,
      );
    },

    /**
     * Makes everybody wait until our deadline, not that of an invocation we take over from. `raced`: somebody
     * wrote meanwhile, read again. `lost`: the timeline is not held for this request any more.
     */
    hold: async (
      journal: RollbackJournal,
      place: Place,
      invocation: Invocation,
    ): Promise<Place | 'raced' | 'lost'> => {
      const busy = busyOf(place);
      if (busy?.requestId !== journal.requestId) return 'lost';
      if (busy.untilMs >= invocation.deadlineMs) return place;
      const move = movePlace(place, { busy: { ...busy, untilMs: invocation.deadlineMs } }, clock);
      if ('copy' in move) {
        const outcome = await store.updateCopy(move.copy, move.expectedVersion);
        return outcome.written ? { ...place, copy: move.copy } : 'raced';
      }
      const outcome = await store.updateSession(move.session, move.expectedVersion);
      return outcome.written ? { session: move.session } : 'raced';
    },

    /**
     * For a run that stops without having ended the journal: whoever comes next may finish it now, and need not wait
     * for the deadline of a call that is over. Where this does not work, they wait.
     */
    letGo: async (sessionId: string, requestId: string, invocation: Invocation): Promise<void> => {
      try {
        const journal = await store.getRollback(sessionId, requestId);
        if (journal === undefined || journal.phase === 'done' || journal.phase === 'failed') return;
        const place = await findPlace(store, sessionId, copyOf(journal));
        const busy = busyOf(place);
        const isOurs = busy?.requestId === requestId && busy.untilMs === invocation.deadlineMs;
        if (!isOurs) return;
        const move = movePlace(place, { busy: { ...busy, untilMs: clock.now().getTime() } }, clock);
        await ('copy' in move
          ? store.updateCopy(move.copy, move.expectedVersion)
          : store.updateSession(move.session, move.expectedVersion));
      } catch (error) {
        log.warn('rollback not let go', { requestId, reason: String(error) });
      }
    },

    /** One transaction (C3): the capture of now is a checkpoint, the head stands on it, the journal knows it. */
    noteCapture: async (
      journal: RollbackJournal,
      place: Place,
      head: Checkpoint | undefined,
      captured: Captured,
    ): Promise<{ journal: RollbackJournal; checkpoint: Checkpoint } | undefined> => {
      const { session, copy } = place;
      const captures = journal.captures + 1;
      const checkpoint = createCheckpoint(
        {
          session,
          captured,
          parentSeq: headSeqOf(place),
          messageId: head?.messageId ?? null,
          messageOrder: head?.messageOrder ?? null,
          toolExecutionId: rollbackToolId(journal.requestId, captures),
          reason: 'rollback',
          sandboxId: journal.sandboxId,
          detached: journal.detached,
        },
        clock,
      );
      const { seq, createdAt } = checkpoint;
      const undoSeq = journal.undoSeq ?? seq;
      const noted: RollbackJournal = {
        ...journal,
        phase: 'captured',
        captures,
        undoSeq,
        updatedAt: createdAt,
      };
      const outcome = await store.commitCheckpoint({
        session: touch(session, copy === undefined ? { seq, headSeq: seq } : { seq }, clock),
        expectedVersion: session.version,
        checkpoint,
        journal: noted,
        ...(copy && {
          copy: {
            copy: { ...copy, headSeq: seq, version: copy.version + 1 },
            expectedVersion: copy.version,
          },
        }),
      });
      return outcome.written ? { journal: noted, checkpoint } : undefined;
    },
  };
};
