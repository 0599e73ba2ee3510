/**
 * When a command in the sandbox ends by itself. Its deadline is kept twice. `timeout` inside ends the whole
 * process group. The sandbox's daemon kills only the process that it started, which is `timeout`. So the
 * inner deadline comes first, including the time for a stubborn child, and the daemon's a second later.
 * Otherwise a child would live on without a deadline and hold the lock.
 */

/** Between a request to end and SIGKILL. */
const KILL_AFTER_MS = 5_000;
/** Between that and the deadline of the daemon, which counts from before our shell has started. */
const APART_MS = 1_000;

export interface ScriptDeadline {
  /** What `timeout` is given. */
  endsAfterMs: number;
  killAfterMs: number;
}

/** Of a command whose whole run may take `timeoutMs`. A short one shares its time out instead: half, a quarter, a quarter. */
export const scriptDeadline = (timeoutMs: number): ScriptDeadline => {
  const killAfterMs = Math.min(KILL_AFTER_MS, Math.floor(timeoutMs / 4));
  const apartMs = Math.min(APART_MS, Math.floor(timeoutMs / 4));
  return { endsAfterMs: Math.max(1, timeoutMs - killAfterMs - apartMs), killAfterMs };
};

/** Seconds to wait for another command on the same projects root: most of the time there is. */
export const lockWaitSeconds = (timeoutMs: number): number =>
  Math.max(1, Math.floor((scriptDeadline(timeoutMs).endsAfterMs / 1000) * 0.8));
