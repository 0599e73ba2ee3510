/**
 * Keeps what long work in a sandbox has done so far, for people who wait for it. It is only told: a write that fails is
 * logged, and the work goes on.
 */
import { HOUR_SECONDS } from '../../../contract/times.ts';
import type { Clock, Log } from '../../shared/surroundings.ts';
import type { WorkDone, WorkProgress } from '../model.ts';
import type { ProgressHooks } from '../ports/capture.ts';
import type { SessionStore } from '../ports/stores.ts';

/** Work that is over sooner writes nothing. */
const QUIET_MS = 1_500;
const EVERY_MS = 1_000;
/** DynamoDB removes the item some time after this. */
const LIFE_SECONDS = HOUR_SECONDS;

/** What one command in the sandbox tells. */
type ProgressOf = (sessionId: string) => {
  readonly tell: (done: WorkDone) => void;
  /** Waits for the last write: a Lambda stops when it has answered. */
  readonly told: () => Promise<void>;
};

interface Deps {
  store: Pick<SessionStore, 'putProgress'>;
  clock: Clock;
  log: Log;
}

export const createTellProgress =
  ({ store, clock, log }: Deps): ProgressOf =>
  (sessionId) => {
    const startedMs = clock.now().getTime();
    let lastMs = startedMs + QUIET_MS - EVERY_MS;
    let writing: Promise<void> | undefined;
    const write = async (progress: WorkProgress): Promise<void> => {
      try {
        await store.putProgress(progress);
      } catch (error) {
        log.warn('progress not kept', { sessionId, error: String(error) });
      } finally {
        writing = undefined;
      }
    };
    return {
      tell: (progress) => {
        const nowMs = clock.now().getTime();
        if (writing !== undefined || nowMs - lastMs < EVERY_MS) return;
        lastMs = nowMs;
        writing = write({
          sessionId,
          ...progress,
          startedAt: new Date(startedMs).toISOString(),
          at: new Date(nowMs).toISOString(),
          expiresAt: Math.floor(nowMs / 1000) + LIFE_SECONDS,
        });
      },
      told: async () => writing,
    };
  };

/** Runs a command in a sandbox of this session, and keeps what it tells. */
export type Telling = <T>(sessionId: string, run: (hooks: ProgressHooks) => Promise<T>) => Promise<T>;

export const createTelling = (deps: Deps): Telling => {
  const progressOf = createTellProgress(deps);
  return async (sessionId, run) => {
    const { tell, told } = progressOf(sessionId);
    try {
      return await run({ onProgress: tell });
    } finally {
      await told();
    }
  };
};
