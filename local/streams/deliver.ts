/**
 * Delivers one batch to a function with retries, bisection and partial failures, like an event source
 * mapping.
 */
import { setTimeout as delay } from 'node:timers/promises';

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 10_000;

/** `failedFrom`: index of the first record that was not accepted. */
export type Attempt = { outcome: 'taken' } | { outcome: 'failed'; error: string; failedFrom?: number };

export interface DeliveryOptions<T> {
  invoke: (records: T[]) => Promise<Attempt>;
  /** Keeps records that were given up. */
  giveUp: (records: T[], error: string) => Promise<void>;
  /** -1: no limit. */
  maxRetries: number;
  bisects: boolean;
  signal: AbortSignal;
}

/** Resolves when every record was accepted or given up, in order. Rejects only when `signal` aborts. */
export const createDelivery = <T>(options: DeliveryOptions<T>) => {
  const { invoke, giveUp, maxRetries, bisects, signal } = options;

  const deliver = async (batch: T[], attempt: number): Promise<void> => {
    signal.throwIfAborted();
    const result = await invoke(batch);
    if (result.outcome === 'taken') return;

    const rest = batch.slice(result.failedFrom ?? 0);
    if (bisects && rest.length > 1) {
      // Splitting is free; only the same records again count as a retry.
      const middle = Math.ceil(rest.length / 2);
      await deliver(rest.slice(0, middle), attempt);
      return deliver(rest.slice(middle), attempt);
    }
    if (maxRetries >= 0 && attempt >= maxRetries) return giveUp(rest, result.error);
    await delay(Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** attempt), undefined, { signal });
    return deliver(rest, attempt + 1);
  };

  return (batch: T[]): Promise<void> => deliver(batch, 0);
};
