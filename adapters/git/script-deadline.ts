/**
 * Decides when a command in the sandbox ends by itself. There are two deadlines. `timeout` in the sandbox
 * ends the whole process group. The sandbox's daemon kills only the process that it started, which is
 * `timeout`. So the inner deadline, with its time for a stubborn child, comes first, and the daemon's
 * deadline a second later. Otherwise a child would live on without a deadline and hold the lock.
 */

/** Time between the request to end and SIGKILL. */
const KILL_AFTER_MS = 5_000;
/** Time from SIGKILL to the daemon's deadline, which counts from before our shell has started. */
const APART_MS = 1_000;

export interface ScriptDeadline {
  /** The time that `timeout` is given. */
  endsAfterMs: number;
  killAfterMs: number;
}

/**
 * The deadlines of a command whose whole run may take `timeoutMs`. A short time is divided instead: half, a
 * quarter, a quarter.
 */
export const scriptDeadline = (timeoutMs: number): ScriptDeadline => {
  const killAfterMs = Math.min(KILL_AFTER_MS, Math.floor(timeoutMs / 4));
  const apartMs = Math.min(APART_MS, Math.floor(timeoutMs / 4));
  return { endsAfterMs: Math.max(1, timeoutMs - killAfterMs - apartMs), killAfterMs };
};

/** Seconds to wait for another command on the same projects root: most of the available time. */
export const lockWaitSeconds = (timeoutMs: number): number =>
  Math.max(1, Math.floor((scriptDeadline(timeoutMs).endsAfterMs / 1000) * 0.8));
