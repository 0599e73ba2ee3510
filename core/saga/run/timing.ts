import type { RetryPolicy } from '../model.ts';

/** How long after its deadline an operation may still be landing: nothing in doubt is probed or undone before (S3). */
export const LATE_COMMIT_MARGIN_MS = 5_000;

/** The engine waits this much longer than the tool may act, so that the tool's own answer wins. */
export const ENGINE_SLACK_SECONDS = 5;

/** Longest single wait of the engine; a longer one is a row of these. (A timer of 2^31 ms is the limit locally.) */
export const MAX_WAIT_SECONDS = 20 * 24 * 3600;

/** Probes after one forward attempt before the answer "unknown" stands. */
export const MAX_PROBES = 2;

/** Seconds between two probes of one attempt. */
export const PROBE_BACKOFF_SECONDS = 2;

/** Pause before attempt `attempt + 1`. */
export const backoffMs = (retry: RetryPolicy, attempt: number): number =>
  Math.min(retry.maxBackoffSeconds, retry.backoffSeconds * retry.backoffRate ** (attempt - 1)) * 1000;

/** Whole seconds, at least 1: what the engine accepts. */
export const engineSeconds = (ms: number): number =>
  Math.min(MAX_WAIT_SECONDS, Math.max(1, Math.ceil(ms / 1000)));
