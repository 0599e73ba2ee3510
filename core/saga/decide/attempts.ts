/**
 * Decides which attempts count, and when the next one is. Two kinds of calls use up no attempt: one that
 * never reached its tool (throttled, no connection, deadline over before it began), because nothing was
 * tried; and one whose caller was lost, because its tool may never have been asked. Pure.
 */
import type { PinnedToolStep } from '../model/plan.ts';
import type { Operation } from '../model/state.ts';
import {
  backoffMs,
  jitteredBackoffMs,
  MAX_ATTEMPTS_IN_A_ROW,
  retryAfterMs,
  UNREACHED_PATIENCE_MS,
  unreachedBackoffMs,
} from '../model/timing.ts';
import type { RetryPolicy } from '../model/tool.ts';
import type { Attempt } from './facts.ts';

/** The known facts about a failed call. */
export interface Refusal {
  reached?: false;
  retryAfterSeconds?: number;
}

/** The members of a fact that describe a refusal. */
export const refusalFact = ({ reached, retryAfterSeconds }: Refusal): Refusal => ({
  ...(reached === false ? { reached } : {}),
  ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
});

/** Attempts that do not count, including that of this refusal. */
const unreachedCount = (operation: Operation, refusal: Refusal): number =>
  (operation.unreached ?? 0) + (refusal.reached === false ? 1 : 0);

/**
 * Attempts used up. `refusal`: the result of the attempt in flight, or nothing when it is counted already.
 * When no call has used up an attempt for longer than `patienceMs`, all attempts count.
 */
export const spentAttempts = (
  operation: Operation,
  nowMs: number,
  refusal: Refusal = {},
  patienceMs = UNREACHED_PATIENCE_MS,
): number => {
  const { attempt, unreachedSinceMs } = operation;
  const lost = unreachedSinceMs !== undefined && nowMs - unreachedSinceMs >= patienceMs;
  return lost ? attempt : attempt - unreachedCount(operation, refusal);
};

/** Probes used up since the last forward attempt, by the same rule. */
export const spentProbes = (operation: Operation, nowMs: number): number => {
  const { probes, unreachedProbes = 0, unreachedSinceMs } = operation;
  const lost = unreachedSinceMs !== undefined && nowMs - unreachedSinceMs >= UNREACHED_PATIENCE_MS;
  return lost ? probes : probes - unreachedProbes;
};

/** The pause of the policy, or what the refusal asked for if that is longer. */
const longest = (policyMs: number, operation: Operation, refusal: Refusal, key: string): number =>
  Math.max(
    retryAfterMs(refusal.retryAfterSeconds),
    refusal.reached === false
      ? unreachedBackoffMs(key, unreachedCount(operation, refusal), policyMs)
      : policyMs,
  );

/** The pause after a forward call that was refused. */
export const pauseAfterMs = (
  retry: RetryPolicy,
  operation: Operation,
  { idempotencyKey }: Attempt,
  refusal: Refusal,
): number => longest(backoffMs(retry, operation.attempt), operation, refusal, idempotencyKey);

/**
 * When a compensator is tried again. `soon`: this saga waits for it. `later`: it is put aside, people are
 * told, and other effects are undone meanwhile. `never`: it is given up.
 */
export type UndoAgain =
  | { again: 'never' }
  | { again: 'soon'; atMs: number }
  | { again: 'later'; atMs: number; attempts: number; unreached: number; sinceMs: number };

/** When a failed compensator is tried again. */
export const undoAgain = (
  step: PinnedToolStep,
  operation: Operation,
  { idempotencyKey }: Attempt,
  about: Refusal & {
    nowMs: number;
    /** The pause begins at this moment. Nothing is done before `safeMs`. */
    fromMs: number;
    safeMs: number;
    /** Attempts up to the last time that it was put aside. */
    before: number;
  },
): UndoAgain => {
  const retry = step.compensation?.retry;
  if (retry === undefined) return { again: 'never' };
  const { delayedAfterSeconds, giveUpAfterSeconds } = retry;
  const { attempt, firstMs: sinceMs } = operation;
  const giveUpMs = giveUpAfterSeconds === undefined ? Infinity : sinceMs + giveUpAfterSeconds * 1000;
  const patienceMs = giveUpAfterSeconds === undefined ? UNREACHED_PATIENCE_MS : Infinity;
  const spent = spentAttempts(operation, about.nowMs, about, patienceMs);
  if (spent >= retry.maxAttempts || about.nowMs >= giveUpMs) return { again: 'never' };
  const pauseMs = longest(
    jitteredBackoffMs(retry, idempotencyKey, attempt),
    operation,
    about,
    idempotencyKey,
  );
  // One more try when the time for giving up comes.
  const atMs = Math.max(about.safeMs, Math.min(about.fromMs + pauseMs, giveUpMs));
  const isLong =
    delayedAfterSeconds !== undefined &&
    (atMs - sinceMs >= delayedAfterSeconds * 1000 || attempt - about.before >= MAX_ATTEMPTS_IN_A_ROW);
  if (!isLong) return { again: 'soon', atMs };
  return { again: 'later', atMs, attempts: attempt, unreached: unreachedCount(operation, about), sinceMs };
};
