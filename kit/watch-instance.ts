/**
 * A call whose code blocks (`execFileSync`, a long loop) runs no timers, so nothing on its thread ends it at
 * its deadline. The function itself may have time left, because the compensator's deadline is longer, or
 * because the call came late. So another thread ends the process (S3).
 */
import { Worker } from 'node:worker_threads';
import { LATE_COMMIT_MARGIN_MS } from '../core/saga/model/timing.ts';

/** A call that still runs timers has ended by then, and nothing is done about a lost call before 5 s. */
const GRACE_MS = 1000;

/** How often the clock is read: while a machine sleeps, its timers stand still. */
const LOOK_MS = 1000;

// The script is a text, so that it is in any bundle that the author makes. It writes with `writeSync`,
// because the blocked thread cannot write for it. Whether a call has ended is in shared memory: between two
// calls the function is frozen, and a message might be read only after that.
const SCRIPT = `
const { writeSync } = require('node:fs');
const { parentPort } = require('node:worker_threads');
const watch = (endMs, ended) => {
  const restMs = endMs - Date.now();
  if (Atomics.load(ended, 0) !== 0) return;
  if (restMs > 0) {
    setTimeout(watch, Math.min(restMs, ${LOOK_MS}), endMs, ended);
    return;
  }
  writeSync(2, 'A tool blocked the process until after its deadline; it must not, or must stop by itself before.\\n');
  process.kill(process.pid, 'SIGKILL');
};
parentPort.on('message', ({ endMs, ended }) => watch(endMs, ended));
`;

/** The parts that matter here of what Lambda gives a handler beside the event. */
export interface FunctionContext {
  getRemainingTimeInMillis?: () => number;
}

/**
 * Whether the function may still run when a lost call is settled. If not, Lambda itself ends it before that.
 * `nowMs` in Unix milliseconds, like the deadline.
 */
export const mayOutlast = (deadlineMs: number, nowMs: number, context?: FunctionContext): boolean => {
  const leftMs = context?.getRemainingTimeInMillis?.();
  return leftMs === undefined || nowMs + leftMs >= deadlineMs + LATE_COMMIT_MARGIN_MS;
};

/** Watches a call until the returned function is called. */
type WatchCall = (deadlineMs: number, context?: FunctionContext) => () => void;

const ignore = (): void => undefined;

/** For places where no process is ended. */
export const unwatched: WatchCall = () => ignore;

/**
 * Watches calls on Lambda. Elsewhere it does nothing, because a process that runs several calls is not ended
 * because of one. The thread starts with the first call that needs it (about 20 ms of processor time, 18 MB).
 */
export const createInstanceWatch = (): WatchCall => {
  if (process.env['AWS_LAMBDA_RUNTIME_API'] === undefined) return unwatched;
  let worker: Worker | undefined;
  // The call goes on all the same, and the next one starts another thread.
  const failed = (error: unknown): undefined => {
    process.stderr.write(`Nothing ends a call that blocks this process: ${String(error)}\n`);
    worker = undefined;
  };
  const start = (): Worker | undefined => {
    try {
      const started = new Worker(SCRIPT, { eval: true });
      started.unref();
      return started.on('error', failed);
    } catch (error) {
      return failed(error);
    }
  };
  return (deadlineMs, context) => {
    if (!mayOutlast(deadlineMs, Date.now(), context)) return ignore;
    worker ??= start();
    const ended = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
    worker?.postMessage({ endMs: deadlineMs + GRACE_MS, ended });
    return () => void Atomics.store(ended, 0, 1);
  };
};
