/** The deadline of a call, and how much of it one sandbox command may use. */
import { WalkbackError } from './errors.ts';
import type { Clock } from './surroundings.ts';

/** Time kept back for the work after a sandbox command: verifying, storing, one transaction. */
const RESERVE_MS = 10_000;
const LEAST_MS = 1_000;

/** The call being served, and when its caller must have the answer. */
export interface Invocation {
  /** Unix milliseconds. */
  deadlineMs: number;
}

/**
 * Milliseconds that one sandbox command may take. Short invocations keep a tenth back instead of the fixed
 * reserve. Throws when there is no time left to begin. Nothing has happened then, so the call may be
 * repeated.
 */
export const commandTimeout = (invocation: Invocation, clock: Clock): number => {
  const left = invocation.deadlineMs - clock.now().getTime();
  const timeoutMs = Math.floor(left - Math.min(RESERVE_MS, left / 10));
  if (timeoutMs >= LEAST_MS) return timeoutMs;
  throw new WalkbackError(
    'SandboxUnavailable',
    'There is too little time left to work in the sandbox. Call again.',
    { retryable: true },
  );
};
