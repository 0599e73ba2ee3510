/**
 * Who works on a rehydrate. The same request asked several times at once is done once: the first call holds it for a
 * short while, again and again for as long as it lives, and the others wait for its answer. A call that died lets go
 * by itself, and the next one takes over.
 */
import type { RehydrateAnswer } from '../../../contract/checkpoint-answers.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { Clock, Log } from '../../shared/surroundings.ts';
import type { RehydrateJournal } from '../model.ts';
import type { SessionStore } from '../ports/stores.ts';

const HOLD_MS = 12_000;
const RENEW_MS = 3_000;
const POLL_MS = 500;
/** Left of a waiting call's time for its answer. */
const RESERVE_MS = 2_000;

export const heldFromNow = (clock: Clock): number => clock.now().getTime() + HOLD_MS;

const isHeld = ({ heldUntilMs = 0 }: RehydrateJournal, clock: Clock): boolean =>
  heldUntilMs > clock.now().getTime();

export const createRehydrateHold = (deps: { store: SessionStore; clock: Clock; log: Log }) => {
  const { store, clock, log } = deps;

  /** Renews the hold of this attempt while `work` runs. Nothing depends on one renewal: a lost one is only logged. */
  const renewing = async (begun: RehydrateJournal, work: () => Promise<RehydrateAnswer>) => {
    const { sessionId, requestId, attempt } = begun;
    const renew = async (): Promise<void> => {
      const journal = await store.getRehydrate(sessionId, requestId);
      // Whoever took over, and an end, are told apart by the write: it is for this attempt, while it is open.
      if (journal?.attempt !== attempt) return;
      await store.moveRehydrate({ ...journal, heldUntilMs: heldFromNow(clock) }, attempt);
    };
    const stop = clock.every?.(RENEW_MS, () => {
      renew().catch((error: unknown) => log.warn('rehydrate not held', { requestId, reason: String(error) }));
    });
    try {
      return await work();
    } finally {
      stop?.();
    }
  };

  /** Waits until the journal moves or nobody holds it. False: at once, because nobody does. */
  const waited = async (journal: RehydrateJournal, invocation: Invocation): Promise<boolean> => {
    if (!isHeld(journal, clock)) return false;
    if (clock.now().getTime() + POLL_MS + RESERVE_MS < invocation.deadlineMs) {
      await clock.sleep(POLL_MS);
      return true;
    }
    throw new WalkbackError(
      'RequestConflict',
      `Another call still works on rehydrate "${journal.requestId}". Call again with the same requestId for its answer.`,
      { retryable: true, details: { requestId: journal.requestId } },
    );
  };

  return { renewing, waited };
};
