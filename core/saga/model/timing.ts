/** The times of sagas: margins, limits, and the pauses between attempts. Pure. */
import { DAY_SECONDS, HOUR_SECONDS } from '../../../contract/times.ts';
import { sha256Hex } from '../../shared/ids.ts';
import type { CompensationRetry, RetryPolicy } from './tool.ts';

/**
 * An operation may still take effect this long after its deadline. Before that, nothing in doubt is probed
 * or undone (S3).
 */
export const LATE_COMMIT_MARGIN_MS = 5_000;

/**
 * Time between the abort of a call's signal and its deadline, for the call to stop and to report how it
 * ended.
 */
export const STOP_MS = 50;

/** The engine waits this much longer than the tool may act, so that the tool's own answer wins. */
export const ENGINE_SLACK_SECONDS = 5;

/**
 * Longest single wait of the engine; a longer wait is split into several. (Locally, timers are limited to
 * 2^31 ms.)
 */
export const MAX_WAIT_SECONDS = 20 * DAY_SECONDS;

/** An older root may be waiting for this one: after this long, the younger one gives up (wait-die). */
export const LOCK_PATIENCE_MS = 30_000;

/** A saga in line for a lock looks again after this long, in case nobody woke it. */
export const LOCK_RECHECK_MS = 10 * 60_000;

/** Probes after one forward attempt before the answer "unknown" stands. */
export const MAX_PROBES = 2;

/** Seconds between two probes of one attempt. */
export const PROBE_BACKOFF_SECONDS = 2;

/** Longest pause that a tool or an endpoint may ask for. */
const MAX_RETRY_AFTER_SECONDS = HOUR_SECONDS;

/** For this long, calls that never reach their tool, or lose their caller, use up no attempt. */
export const UNREACHED_PATIENCE_MS = 15 * 60_000;

const MAX_UNREACHED_BACKOFF_SECONDS = 60;

/**
 * A compensator has at most this many attempts in a row, then the others have their turn. The history of an
 * execution has room for them.
 */
export const MAX_ATTEMPTS_IN_A_ROW = 20;

/**
 * Beyond this exponent every pause is at its maximum. The limit also avoids 0 times infinity, which is NaN.
 */
const MAX_EXPONENT = 60;

/** Pause before attempt `attempt + 1`. */
export const backoffMs = (retry: RetryPolicy, attempt: number): number => {
  const grown = retry.backoffSeconds * retry.backoffRate ** Math.min(MAX_EXPONENT, attempt - 1);
  return Math.min(retry.maxBackoffSeconds, grown) * 1000;
};

/**
 * A fraction from 0 to 1 that follows from the key of a call and a number. So sagas that met the same outage
 * do not all return at the same time. The reducer is pure, so the same attempt always gets the same fraction.
 */
const drawn = (key: string, count: number): number =>
  Number.parseInt(sha256Hex(`${key} ${count}`).slice(0, 8), 16) / 2 ** 32;

/**
 * Pause after the nth call in a row that never reached its tool: between half and all of the policy's pause,
 * or of a longer one that grows with n. Such calls use up no attempt, so even a policy without pauses must
 * wait.
 */
export const unreachedBackoffMs = (key: string, count: number, policyMs = 0): number => {
  const grown = Math.min(MAX_UNREACHED_BACKOFF_SECONDS, 2 ** Math.min(MAX_EXPONENT, count - 1)) * 1000;
  return Math.round(Math.max(policyMs, grown) * (0.5 + drawn(key, count) / 2));
};

/** The pause that a refusal asked for, within limits. */
export const retryAfterMs = (seconds: number | undefined): number =>
  seconds === undefined ? 0 : Math.min(MAX_RETRY_AFTER_SECONDS, Math.max(0, seconds)) * 1000;

/** The pause of a compensator, with the jitter that its policy asks for. */
export const jitteredBackoffMs = (retry: CompensationRetry, key: string, attempt: number): number =>
  Math.round(backoffMs(retry, attempt) * (1 - (retry.jitter ?? 0) * drawn(key, attempt)));

/** Whole seconds, at least 1, as the engine requires. */
export const engineSeconds = (ms: number): number =>
  Math.min(MAX_WAIT_SECONDS, Math.max(1, Math.ceil(ms / 1000)));
