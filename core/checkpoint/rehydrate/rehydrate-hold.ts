/**
 * Decides which call works on a rehydrate. When the same request arrives several times at once, it is done
 * once. The first call holds it for a short while and renews the hold as long as it lives; the others wait
 * for its answer. The hold of a call that died runs out, and the next call takes over.
 */
import type { RehydrateAnswer } from '../../../contract/checkpoint-answers.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { Clock, Log } from '../../shared/surroundings.ts';
import type { RehydrateJournal } from '../journals.ts';
import type { SessionStore } from '../ports/stores.ts';

const HOLD_MS = 12_000;
const RENEW_MS = 3_000;
const POLL_MS = 500;
/** Time that a waiting call keeps in reserve for its answer. */
const RESERVE_MS = 2_000;

export const heldFromNow = (clock: Clock): number => clock.now().getTime() + HOLD_MS;

const isHeld = ({ heldUntilMs = 0 }: RehydrateJournal, clock: Clock): boolean =>
  heldUntilMs > clock.now().getTime();

export const createRehydrateHold = (deps: { store: SessionStore; clock: Clock; log: Log }) => {
  const { store, clock, log } = deps;

  /**
   * Renews the hold of this attempt while `work` runs. A failed renewal is only logged, since nothing
   * depends on a single one.
   */
  const renewing = async (begun: RehydrateJournal, work: () => Promise<RehydrateAnswer>) => {
    const { requestId } = begun;
    // Not the journal as it was read: what this very call notes in it meanwhile would be gone.
    const renew = (): Promise<void> => store.holdRehydrate(begun, heldFromNow(clock));
    const stop = clock.every?.(RENEW_MS, () => {
      renew().catch((error: unknown) => log.warn('rehydrate not held', { requestId, reason: String(error) }));
    });
    try {
      return await work();
    } finally {
      stop?.();
    }
  };

  /** Waits until the journal moves or its hold runs out. Answers false at once when no one holds it. */
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
