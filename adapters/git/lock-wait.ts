/** Of the time of a call, what it needs after it has the lock at the least: half of a short call. */
const AFTER_MS = 6_000;

/** Seconds to wait for another command on the same projects root: most of the time that is left. */
export const lockWaitSeconds = (timeoutMs: number): number =>
  Math.max(1, Math.floor((Math.max(timeoutMs - AFTER_MS, timeoutMs / 2) / 1000) * 0.8));
