/** The one policy for retrying after a lost race: each pause is longer, and has jitter. Pure. */

export interface RetryPolicy {
  /** Number of tries, the first included. */
  attempts: number;
  /** The longest pause after the first try. It doubles with each try. */
  firstMs: number;
  mostMs: number;
}

/** Conditional writes of one item by several callers. */
export const RACE: RetryPolicy = { attempts: 10, firstMs: 40, mostMs: 1_500 };
/** A service that answers "at this moment another write is under way". */
export const COLLISION: RetryPolicy = { attempts: 7, firstMs: 50, mostMs: 2_000 };
/** A busy store, for a write of what only this process knows and others would have to find out again. */
export const BUSY: RetryPolicy = { attempts: 5, firstMs: 500, mostMs: 4_000 };
/** A broken connection during work that is safe to repeat. */
export const BROKEN_CONNECTION: RetryPolicy = { attempts: 3, firstMs: 100, mostMs: 1_000 };

export interface RetryMeans {
  sleep: (ms: number) => Promise<unknown>;
  /** From 0 to 1. */
  random?: () => number;
}

/**
 * Between half of the longest pause and all of it, so that callers that collided do not collide again.
 * `attempt` counts from 0.
 */
export const pauseMs = (policy: RetryPolicy, attempt: number, random: () => number): number =>
  Math.min(policy.mostMs, policy.firstMs * 2 ** attempt) * (0.5 + random() / 2);

/** Pauses between two rounds of a loop that lost a race and reads everything again. */
export const pauseAfterRace = (
  { sleep, random = Math.random }: RetryMeans,
  attempt: number,
): Promise<unknown> => sleep(pauseMs(RACE, attempt, random));

/**
 * The first answer of `attempt` that is not undefined, or undefined when there is none. An error thrown by
 * `attempt` ends the retries.
 */
export const retrying = async <T>(
  policy: RetryPolicy,
  means: RetryMeans,
  attempt: (count: number) => Promise<T | undefined>,
): Promise<T | undefined> => {
  const { random = Math.random } = means;
  for (let count = 0; count < policy.attempts; count++) {
    const result = await attempt(count);
    if (result !== undefined) return result;
    if (count + 1 < policy.attempts) await means.sleep(pauseMs(policy, count, random));
  }
  return undefined;
};

/**
 * The same for work that fails: errors that `isPassing` accepts are retried, and the last error is thrown.
 */
export const retryingErrors = async <T>(
  policy: RetryPolicy,
  means: RetryMeans,
  isPassing: (error: unknown) => boolean,
  work: () => Promise<T>,
): Promise<T> => {
  const { random = Math.random } = means;
  for (let count = 0; ; count++) {
    try {
      return await work();
    } catch (error) {
      if (count + 1 >= policy.attempts || !isPassing(error)) throw error;
    }
    await means.sleep(pauseMs(policy, count, random));
  }
};
