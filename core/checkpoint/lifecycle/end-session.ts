/**
 * Ends a session: nothing new may be written into it, and its retention begins. Idempotent. Its head
 * checkpoint is kept as long as the session is. Older ones keep their own expiry.
 */
import type { Cleaned, EndSessionAnswer } from '../../../contract/checkpoint-answers.ts';
import type { EndSessionInput } from '../../../contract/checkpoint-inputs.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { isWalkbackError, WalkbackError } from '../../shared/errors.ts';
import { RACE, retrying } from '../../shared/retry.ts';
import type { Clock, Log } from '../../shared/surroundings.ts';
import { isOpen } from '../attempt/rollback-state.ts';
import type { Session } from '../model.ts';
import type { SessionStore } from '../ports/stores.ts';
import { createCleanSandbox } from '../session/clean-sandbox.ts';
import { settledBy } from '../session/place.ts';
import { expiryOf, keepCheckpoint } from '../session/retention.ts';
import { touch } from '../session/session-item.ts';
import { requireSession } from '../session/session-rules.ts';
import { requireFree } from '../settle/abandoned.ts';
import { createGiveUpRollback } from '../settle/give-up-rollback.ts';
import { createDiscardFork, type DiscardDeps } from './discard-fork.ts';

/**
 * Only a fork's sandbox was made by us, so only that may be killed. Any other session's sandbox existed
 * before the session.
 */
const requireFork = async (store: SessionStore, sessionId: string): Promise<Session> => {
  const session = await requireSession(store, sessionId);
  if (session.forkedFrom !== undefined) return session;
  throw new WalkbackError(
    'InvalidInput',
    `discard: session "${sessionId}" is no fork, so its sandbox is not Walkback's to kill. End it without discard.`,
    { details: { fields: ['discard'] } },
  );
};

interface EndSessionDeps {
  store: SessionStore;
  clock: Clock;
  log: Log;
  /** Called when the session has ended, or for a fork that is discarded. */
  forSandbox: () => Promise<DiscardDeps>;
  /**
   * Refuses to discard a fork while others work in its sandbox. Absent when the caller knows that nobody
   * does.
   */
  expectUnused?: (fork: Session) => Promise<void>;
}

export const createEndSession =
  (deps: EndSessionDeps) =>
  async (input: EndSessionInput, invocation: Invocation): Promise<EndSessionAnswer> => {
    const { store, clock } = deps;
    const { sessionId } = input;
    const isDropping = input.dropUncaptured === true;
    const giveUpRollback = createGiveUpRollback(deps);
    /** Whether there was a rollback to give up. If so, the session has changed and must be read again. */
    const giveUp = async (session: Session): Promise<boolean> => {
      if (session.busy?.kind !== 'rollback') return false;
      const { requestId } = session.busy;
      const journal = await store.getRollback(sessionId, requestId);
      if (journal === undefined || !isOpen(journal)) return false;
      const why = new WalkbackError('SessionEnded', 'the session was ended');
      await giveUpRollback(session, settledBy('end-session', sessionId), why);
      return true;
    };
    const attempt = async (): Promise<number | undefined> => {
      const session = await requireSession(store, sessionId);
      if (session.status === 'ended') return session.expiresAt;
      // An abandoned operation is let go, because no call may work in the session any more.
      if (session.busy !== undefined) requireFree(sessionId, session.busy, clock.now().getTime());
      if (await giveUp(session)) return undefined;
      const expiresAt = expiryOf(session, clock);
      const head = await store.getCheckpoint(sessionId, session.headSeq);
      if (head !== undefined) await keepCheckpoint(store, session, head, clock);
      const ended = { ...touch(session, { status: 'ended', busy: undefined }, clock), expiresAt };
      const outcome = await store.updateSession(ended, session.version);
      return outcome.written ? expiresAt : undefined;
    };
    const end = async (): Promise<number> => {
      const expiresAt = await retrying(RACE, clock, attempt);
      if (expiresAt !== undefined) return expiresAt;
      throw new WalkbackError(
        'Throttled',
        `Session "${sessionId}" is being written by others all the time. Call again.`,
        { retryable: true, details: { sessionId } },
      );
    };
    const planned = async (): Promise<EndSessionAnswer> => {
      const session = await requireSession(store, sessionId);
      const expiresAt = session.status === 'ended' ? session.expiresAt : expiryOf(session, clock);
      return { sessionId, expiresAt, status: 'PLANNED' };
    };
    /** A session ends also where no key of E2B is set. */
    const clean = async (session: Session, dryRun: boolean): Promise<Cleaned | undefined> => {
      try {
        return await createCleanSandbox(await deps.forSandbox())(session, { dryRun });
      } catch (error) {
        if (!isWalkbackError(error)) throw error;
        deps.log.warn('the sandbox was not cleaned', { sessionId, reason: error.message });
        return undefined;
      }
    };
    if (input.discard !== true) {
      const dryRun = input.dryRun === true;
      const answer: EndSessionAnswer = dryRun
        ? await planned()
        : { sessionId, expiresAt: await end(), status: 'ENDED' };
      const cleaned = await clean(await requireSession(store, sessionId), dryRun);
      return { ...answer, ...(cleaned !== undefined && { cleaned }) };
    }

    const fork = await requireFork(store, sessionId);
    if (fork.busy !== undefined) requireFree(sessionId, fork.busy, clock.now().getTime());
    await deps.expectUnused?.(fork);
    const ports = await deps.forSandbox();
    const { look, keepWork } = createDiscardFork(ports);
    const found = await look(fork, isDropping, invocation);
    if (input.dryRun === true) return { ...(await planned()), discarded: found };
    const isKept = found.isRunning && !isDropping;
    const discarded = isKept ? await keepWork(fork, found, invocation) : found;
    const expiresAt = await end();
    // The kill comes last. If the call dies before it, the call is repeated; a repeated call finds the
    // sandbox gone.
    if (isKept || isDropping) await ports.sandboxes.kill(fork.sandboxId);
    return { sessionId, expiresAt, status: 'ENDED', discarded };
  };
