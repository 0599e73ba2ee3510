/**
 * The durable form of a rollback: each write after it has begun. It moves the journal and its timeline in one
 * transaction, so neither is ever ahead of the other.
 */

import type { RollbackAnswer } from '../../../contract/rollback-answers.ts';
import type { Invocation } from '../../shared/deadline.ts';
import type { WalkbackError } from '../../shared/errors.ts';
import { rollbackToolId } from '../../shared/ids.ts';
import { RACE, retrying } from '../../shared/retry.ts';
import type { Clock, Log } from '../../shared/surroundings.ts';
import type { CaptureDeps } from '../capture/capture.ts';
import type { Captured } from '../capture/capture-report.ts';
import { createCheckpoint } from '../capture/checkpoint-item.ts';
import { saidBefore } from '../content/said.ts';
import type { RollbackJournal } from '../journals.ts';
import type { Checkpoint } from '../model.ts';
import type { Sandboxes } from '../ports/sandbox.ts';
import type { SessionStore } from '../ports/stores.ts';
import { unfinished } from '../restore/restore-errors.ts';
import {
  busyOf,
  findTimeline,
  headSeqOf,
  moveTimeline,
  timelineAfter,
  type WorkTimeline,
  writeTimeline,
} from '../session/place.ts';
import { keptCheckpoint } from '../session/retention.ts';
import { moveMessage, touch } from '../session/session-item.ts';
import { isSameState } from '../timeline/repository-change.ts';
import { workSince } from '../timeline/whose-work.ts';
import {
  copyOf,
  endedAnswer,
  failedWith,
  isOpen,
  mayHaveWritten,
  type OpenPhase,
  withCapture,
} from './rollback-state.ts';

/** What every call needs that rolls back, or settles a rollback that nobody asks for any more. */
export type RollbackDeps = CaptureDeps & { sandboxes: Sandboxes };

const TRIES = { ...RACE, attempts: 6 };

/** A checkpoint of a rollback, the journal that names it, and the timeline as this write left it. */
interface NotedCheckpoint {
  journal: RollbackJournal;
  checkpoint: Checkpoint;
  place: WorkTimeline;
}

export const createRollbackJournal = (deps: { store: SessionStore; clock: Clock; log: Log }) => {
  const { store, clock, log } = deps;

  /** Tries again while other calls move the timeline. Undefined: this try lost the race. */
  const written = async <T>(
    { requestId }: RollbackJournal,
    write: (count: number) => Promise<{ as: T } | undefined>,
  ): Promise<T> => {
    const outcome = await retrying(TRIES, clock, write);
    if (outcome !== undefined) return outcome.as;
    throw unfinished(requestId, 'the session is being written by others all the time.');
  };

  /**
   * Answers the ended journal, whichever call ended it. `last`: the timeline as it was read or written last, for
   * the first try. `target`: is needed from now on.
   */
  const end = (
    journal: RollbackJournal,
    headSeq: number | undefined,
    last?: WorkTimeline,
    target?: Checkpoint,
  ): Promise<RollbackJournal> => {
    const ended = { ...journal, updatedAt: clock.now().toISOString() };
    return written(journal, async (count) => {
      const known = count === 0 ? last : undefined;
      const place = known ?? (await findTimeline(store, journal.sessionId, copyOf(journal)));
      const busy = busyOf(place);
      const change = {
        headSeq,
        busy: busy?.requestId === journal.requestId ? undefined : busy,
        settledRollback: journal.settled,
      };
      const kept =
        count === 0 && target !== undefined ? keptCheckpoint(place.session, target, clock) : undefined;
      const outcome = await store.moveRollback(ended, moveTimeline(place, change, clock), kept);
      // It may be this that was refused, so it is prolonged by itself.
      if (!outcome.written && kept !== undefined) {
        await store.putUploads(kept.uploads);
        await store.prolongCheckpoint(kept.checkpoint, kept.expiresAt);
      }
      const stored = outcome.written ? ended : await store.getRollback(journal.sessionId, journal.requestId);
      return stored === undefined || isOpen(stored) ? undefined : { as: stored };
    });
  };

  const answerOf = (journal: RollbackJournal): RollbackAnswer => {
    const answer = endedAnswer(journal);
    if (answer === undefined) throw unfinished(journal.requestId, 'its journal holds no answer.');
    return answer;
  };

  /** Ends it with an error, for a call that does not itself answer with that error. */
  const close = (
    journal: RollbackJournal,
    error: WalkbackError,
    headSeq?: number,
  ): Promise<RollbackJournal> => {
    log.warn('rollback failed', { requestId: journal.requestId, name: error.name });
    return end(failedWith(journal, error), headSeq);
  };

  /** The timeline, if this run's view of the journal is that of the store. */
  const placeIfOurs = async (journal: RollbackJournal): Promise<WorkTimeline | undefined> => {
    const { sessionId, requestId } = journal;
    // Read the timeline first: if another run moved the journal since then, it moved the timeline too,
    // and the write is refused.
    const place = await findTimeline(store, sessionId, copyOf(journal));
    const stored = await store.getRollback(sessionId, requestId);
    const isOurs = busyOf(place)?.requestId === requestId && stored?.captures === journal.captures;
    return isOurs && isOpen(stored) ? place : undefined;
  };

  /** A write of a journal that is open. Undefined: it ended, or another run of the same request is ahead. */
  const moving = <T>(
    journal: RollbackJournal,
    last: WorkTimeline | undefined,
    write: (place: WorkTimeline) => Promise<T | undefined>,
  ): Promise<T | undefined> =>
    written(journal, async (count) => {
      const place = (count === 0 ? last : undefined) ?? (await placeIfOurs(journal));
      if (place === undefined) return { as: undefined };
      const as = await write(place);
      return as === undefined ? undefined : { as };
    });

  /** Whether it may hold parts of both ends. What is one of them is not. */
  const isHalfWritten = async (journal: RollbackJournal, { repositories }: Captured): Promise<boolean> => {
    if (!mayHaveWritten(journal)) return false;
    const { sessionId, undoSeq, targetSeq } = journal;
    const seqs = undoSeq === undefined ? [targetSeq] : [undoSeq, targetSeq];
    const ends = await Promise.all(seqs.map((seq) => store.getCheckpoint(sessionId, seq)));
    return !ends.some((end) => end !== undefined && isSameState(repositories, end.repositories));
  };

  return {
    close,

    /**
     * Lets go when a run stops without having ended the journal. The next call may then go on at once, and
     * need not wait for the deadline of a finished call. If this fails, the next call waits.
     */
    letGo: async (sessionId: string, requestId: string, invocation: Invocation): Promise<void> => {
      try {
        const journal = await store.getRollback(sessionId, requestId);
        if (journal === undefined || !isOpen(journal)) return;
        const place = await findTimeline(store, sessionId, copyOf(journal));
        const busy = busyOf(place);
        if (busy?.requestId !== requestId || busy.untilMs !== invocation.deadlineMs) return;
        await writeTimeline(
          store,
          moveTimeline(place, { busy: { ...busy, untilMs: clock.now().getTime() } }, clock),
        );
      } catch (error) {
        log.warn('rollback not let go', { requestId, reason: String(error) });
      }
    },

    /**
     * Moves an open journal to another phase, and answers the timeline as that left it. Undefined: the journal
     * ended, or another run of the same request is ahead of this one, so this run's view is out of date. `last`:
     * the timeline as the write before left it. If anything moved it since, the first try is refused.
     */
    enter: (
      journal: RollbackJournal,
      phase: OpenPhase,
      last?: WorkTimeline,
    ): Promise<WorkTimeline | undefined> =>
      moving(journal, last, async (place) => {
        const moved: RollbackJournal = { ...journal, phase, updatedAt: clock.now().toISOString() };
        const move = moveTimeline(place, { busy: busyOf(place) }, clock);
        const outcome = await store.moveRollback(moved, move);
        return outcome.written ? timelineAfter(place, move) : undefined;
      }),

    finish: async (
      journal: RollbackJournal,
      result: RollbackAnswer,
      { target, last }: { target: Checkpoint; last?: WorkTimeline | undefined },
    ): Promise<RollbackAnswer> =>
      answerOf(await end({ ...journal, phase: 'done', result }, target.seq, last, target)),

    /** `headSeq`: the checkpoint that the sandbox stands on. */
    fail: async (journal: RollbackJournal, error: WalkbackError, headSeq?: number): Promise<RollbackAnswer> =>
      answerOf(await close(journal, error, headSeq)),

    /**
     * One transaction: a composed state becomes a checkpoint beside the head, and the journal names it as the
     * target. Undefined: another run of the same request is ahead. `last`: see `enter`.
     */
    noteTarget: (
      journal: RollbackJournal,
      last: WorkTimeline,
      from: Omit<Parameters<typeof createCheckpoint>[0], 'session' | 'sandboxId' | 'detached'>,
    ): Promise<NotedCheckpoint | undefined> =>
      moving(journal, last, async (place) => {
        const { sandboxId, detached } = journal;
        const checkpoint = createCheckpoint({ ...from, session: place.session, sandboxId, detached }, clock);
        const noted = { ...journal, targetSeq: checkpoint.seq, updatedAt: checkpoint.createdAt };
        const session = touch(place.session, { seq: checkpoint.seq }, clock);
        const outcome = await store.commitCheckpoint({
          session,
          expectedVersion: place.session.version,
          checkpoint,
          journal: noted,
        });
        return outcome.written ? { journal: noted, checkpoint, place: { ...place, session } } : undefined;
      }),

    /**
     * One transaction (C3): the capture of "now" becomes a checkpoint, the head moves to it, and the
     * journal records it. The phase stays `writing` where an earlier run may have written. `begun`: the same
     * transaction begins the rollback. `from` is the timeline that was read, and `place` the one that begins it.
     */
    noteCapture: async (
      journal: RollbackJournal,
      place: WorkTimeline,
      head: Checkpoint | undefined,
      captured: Captured,
      begun?: { from: WorkTimeline; phase: OpenPhase },
    ): Promise<NotedCheckpoint | undefined> => {
      const { session, copy } = place;
      const before = begun?.from ?? place;
      // May belong to a turn that was cut, whose message has no checkpoint of its own.
      const { messageId, unowned } =
        copy === undefined
          ? workSince(head, session, journal.epoch - 1)
          : { messageId: head?.messageId ?? null, unowned: false };
      const isHeads = messageId === null || messageId === head?.messageId;
      const known = isHeads ? undefined : await store.findMessage(journal.sessionId, messageId);
      const isNew = !isHeads && known === undefined;
      const messageCount = session.messageCount + (isNew ? 1 : 0);
      const checkpoint = createCheckpoint(
        {
          session,
          captured,
          parentSeq: headSeqOf(place),
          parent: head,
          messageId,
          unowned,
          messageOrder: isHeads ? (head?.messageOrder ?? null) : (known?.order ?? messageCount),
          toolExecutionId: rollbackToolId(journal.requestId, journal.captures + 1),
          reason: 'rollback',
          sandboxId: journal.sandboxId,
          detached: journal.detached,
          by: journal.by,
          halfWritten: await isHalfWritten(journal, captured),
        },
        clock,
      );
      const { seq, checkpointId: id } = checkpoint;
      const noted = withCapture(journal, checkpoint, begun?.phase);
      const moved: WorkTimeline = {
        session: touch(session, copy === undefined ? { seq, headSeq: seq, messageCount } : { seq }, clock),
        copy: copy && { ...copy, headSeq: seq, version: copy.version + 1 },
      };
      const outcome = await store.commitCheckpoint({
        session: moved.session,
        expectedVersion: before.session.version,
        checkpoint,
        journal: noted,
        begins: begun !== undefined,
        links: captured.links,
        ...(isNew && {
          message: moveMessage(session, undefined, messageId, { seq, id }, saidBefore(head, messageId)),
        }),
        ...(before.copy &&
          moved.copy && { copy: { copy: moved.copy, expectedVersion: before.copy.version } }),
      });
      return outcome.written ? { journal: noted, checkpoint, place: moved } : undefined;
    },
  };
};
