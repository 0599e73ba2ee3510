/**
 * Makes sure that what was planned is what is done: a plan holds only for the version of the head that it was
 * made from.
 */
import { WalkbackError } from '../../shared/errors.ts';
import { RACE, type RetryMeans, retrying } from '../../shared/retry.ts';
import type { SagaEvent } from '../decide/saga-events.ts';
import type { SagaHead } from '../model/head.ts';

/** An event for `move` that is dropped when the saga moved since. */
export const ifUnmoved =
  ({ version }: SagaHead, event: SagaEvent) =>
  (now: SagaHead): SagaEvent | undefined =>
    now.version === version ? event : undefined;

/** `attempt` plans and records; undefined when the saga moved between the two. Throws `Throttled`. */
export const untilUnmoved = async <T>(
  means: RetryMeans,
  what: string,
  attempt: () => Promise<T | undefined>,
): Promise<T> => {
  const answer = await retrying(RACE, means, attempt);
  if (answer !== undefined) return answer;
  throw new WalkbackError(
    'Throttled',
    `The saga moves all the time, and the ${what} was not recorded. Call again.`,
    {
      retryable: true,
    },
  );
};
