/**
 * The writes of one rehydrate. Owns the attempt number: an invocation that takes over a request raises it.
 * From then on, the earlier invocation can neither finish the request nor kill its sandbox.
 */

import type { RehydrateAnswer } from '../../../contract/checkpoint-answers.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { pauseAfterRace } from '../../shared/retry.ts';
import type { Clock } from '../../shared/surroundings.ts';
import type { RehydrateJournal } from '../journals.ts';
import type { SessionStore } from '../ports/stores.ts';
import { expiryOf } from '../session/retention.ts';
import { touch } from '../session/session-item.ts';
import { requireSession } from '../session/session-rules.ts';
import { heldFromNow } from './rehydrate-hold.ts';

const MAX_ATTEMPTS = 6;

const superseded = (requestId: string): WalkbackError =>
  new WalkbackError(
    'RequestConflict',
    `Another call works on rehydrate "${requestId}" now. Call again with the same requestId for its answer.`,
    { retryable: true, details: { requestId } },
  );

/**
 * The answer of a journal that ended, or undefined while it is open. For a failed one, throws the recorded
 * error.
 */
export const endedRehydrate = (journal: RehydrateJournal): RehydrateAnswer | undefined => {
  if (journal.phase === 'failed' && journal.error !== undefined) {
    throw new WalkbackError(journal.error.name, journal.error.message, {
      // From now on, this error is the request's answer.
      retryable: false,
      details: { requestId: journal.requestId },
    });
  }
  return journal.phase === 'done' ? journal.result : undefined;
};

export const createRehydrateJournal = (deps: { store: SessionStore; clock: Clock }) => {
  const { store, clock } = deps;

  /**
   * The write lost against a newer attempt, or against an end of this attempt whose answer never arrived.
   */
  const adopt = async (journal: RehydrateJournal): Promise<RehydrateAnswer> => {
    const stored = await store.getRehydrate(journal.sessionId, journal.requestId);
    const result = stored === undefined ? undefined : endedRehydrate(stored);
    if (result !== undefined) return result;
    throw superseded(journal.requestId);
  };

  /** The session after a resume; undefined for a review. */
  const resumed = async (journal: RehydrateJournal, sandboxId: string) => {
    const session = await requireSession(store, journal.sessionId);
    if (session.busy?.requestId !== journal.requestId) throw superseded(journal.requestId);
    const change = { sandboxId, headSeq: journal.targetSeq, epoch: session.epoch + 1, busy: undefined };
    return { session: touch(session, change, clock), expectedVersion: session.version };
  };

  const reviewed = async (journal: RehydrateJournal, sandboxId: string) => {
    const session = await requireSession(store, journal.sessionId);
    const { sessionId, targetSeq: headSeq } = journal;
    return { copy: { sessionId, sandboxId, headSeq, version: 1, expiresAt: expiryOf(session, clock) } };
  };

  /** The session without this request's hold on it; undefined when there is no hold. */
  const freed = async (journal: RehydrateJournal) => {
    if (journal.mode !== 'resume') return undefined;
    const session = await requireSession(store, journal.sessionId);
    if (session.busy?.requestId !== journal.requestId) return undefined;
    return { session: touch(session, { busy: undefined }, clock), expectedVersion: session.version };
  };

  /** Whether this attempt may still end it. */
  const isOpen = async (journal: RehydrateJournal): Promise<boolean> => {
    const stored = await store.getRehydrate(journal.sessionId, journal.requestId);
    return stored?.attempt === journal.attempt && stored.phase !== 'done' && stored.phase !== 'failed';
  };

  const now = () => clock.now().toISOString();

  return {
    /** Takes the request over from the previous attempt. Undefined when another call was faster. */
    takeOver: async (
      journal: RehydrateJournal,
      invocation: Invocation,
    ): Promise<RehydrateJournal | undefined> => {
      const taken: RehydrateJournal = {
        ...journal,
        attempt: journal.attempt + 1,
        heldUntilMs: heldFromNow(clock),
        updatedAt: now(),
      };
      const session = journal.mode === 'resume' ? await requireSession(store, journal.sessionId) : undefined;
      const busy = session?.busy;
      const held =
        session !== undefined && busy?.requestId === journal.requestId
          ? {
              session: touch(session, { busy: { ...busy, untilMs: invocation.deadlineMs } }, clock),
              expectedVersion: session.version,
            }
          : undefined;
      const outcome = await store.moveRehydrate(taken, journal.attempt, held);
      return outcome.written ? taken : undefined;
    },

    noteSandbox: async (journal: RehydrateJournal, sandboxId: string): Promise<RehydrateJournal> => {
      const noted: RehydrateJournal = {
        ...journal,
        phase: 'created',
        sandboxId,
        heldUntilMs: heldFromNow(clock),
        updatedAt: now(),
      };
      const outcome = await store.moveRehydrate(noted, journal.attempt);
      if (!outcome.written) throw superseded(journal.requestId);
      return noted;
    },

    /** Ends it. For a resume the session moves into the sandbox in the same transaction (C9: the epoch goes up). */
    finish: async (
      journal: RehydrateJournal,
      result: (epoch: number) => RehydrateAnswer,
      sandboxId: string,
    ): Promise<RehydrateAnswer> => {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const also =
          journal.mode === 'resume' ? await resumed(journal, sandboxId) : await reviewed(journal, sandboxId);
        const epoch =
          'session' in also ? also.session.epoch : (await requireSession(store, journal.sessionId)).epoch;
        const done: RehydrateJournal = {
          ...journal,
          phase: 'done',
          sandboxId,
          result: result(epoch),
          updatedAt: now(),
        };
        const outcome = await store.moveRehydrate(done, journal.attempt, also);
        if (outcome.written) return result(epoch);
        if (!(await isOpen(journal))) return adopt(journal);
        // Only the session moved (a review copy got a checkpoint), so try again on its present state.
        await pauseAfterRace(clock, attempt);
      }
      throw superseded(journal.requestId);
    },

    /**
     * Records that this attempt failed. True: the request is still ours, so its sandbox may be killed.
     * Otherwise another call has the request, or the request is done after all and this answers its result.
     */
    giveUp: async (journal: RehydrateJournal, error: unknown): Promise<true | RehydrateAnswer> => {
      const isFinal = error instanceof WalkbackError && !error.retryable;
      const failed: RehydrateJournal = isFinal
        ? {
            ...journal,
            phase: 'failed',
            error: { name: error.name, message: error.message },
            updatedAt: now(),
          }
        : { ...journal, phase: 'started', sandboxId: undefined, heldUntilMs: undefined, updatedAt: now() };
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const outcome = await store.moveRehydrate(
          failed,
          journal.attempt,
          isFinal ? await freed(journal) : undefined,
        );
        if (outcome.written) return true;
        if (!(await isOpen(journal))) break;
        await pauseAfterRace(clock, attempt);
      }
      return adopt(journal);
    },
  };
};
