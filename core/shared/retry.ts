/**
 * The one way a lost race is tried again: later each time, and not all at the same moment. Pure but for what it is given.
 */

export interface RetryPolicy {
  /** How often it is tried, the first time included. */
  attempts: number;
  /** The longest pause after the first try; it doubles with each. */
  firstMs: number;
  mostMs: number;
}

/** Conditional writes of one item by several callers. */
export const RACE: RetryPolicy = { attempts: 10, firstMs: 40, mostMs: 1_500 };
/** A service that answers "at this moment another write is under way". */
export const COLLISION: RetryPolicy = { attempts: 7, firstMs: 50, mostMs: 2_000 };
/** A connection that broke under something that may be done twice. */
export const BROKEN_CONNECTION: RetryPolicy = { attempts: 3, firstMs: 100, mostMs: 1_000 };

export interface RetryMeans {
  sleep: (ms: number) => Promise<unknown>;
  /** From 0 to 1. */
  random?: () => number;
}

/** Between half of the longest pause and all of it, so that those who met do not meet again. `attempt` counts from 0. */
export const pauseMs = (policy: RetryPolicy, attempt: number, random: () => number): number =>
  Math.min(policy.mostMs, policy.firstMs * 2 ** attempt) * (0.5 + random() / 2);

/** Between two rounds of a loop that is lost to others and looks at everything anew. */
export const pauseAfterRace = (
  { sleep, random = Math.random }: RetryMeans,
  attempt: number,
): Promise<unknown> => sleep(pauseMs(RACE, attempt, random));

/** What `attempt` answers, as soon as it is not undefined; undefined when it never was. What it throws ends it. */
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

/** The same for work that fails: what `isPassing` knows is tried again, the last failure is thrown. */
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
