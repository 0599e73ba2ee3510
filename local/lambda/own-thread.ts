/**
 * One thread for code that is not Walkback's own: an execution environment like those of Lambda. A process
 * would isolate it as well, but a blocked process would outlive a cloud that was killed.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { FunctionPlan } from '../plan.ts';
import type { Claim } from './claim.ts';
import type { LoadedFile } from './loaded-files.ts';
import type { ModuleContent } from './module-content.ts';
import { type Fault, faultOutsideOfCalls } from './own-faults.ts';
import type { InvocationResult } from './run-handler.ts';

/** The last requested turn that the thread has made. It lies in shared memory, so that it is visible at once. */
export type TurnCounter = Int32Array<SharedArrayBuffer>;

/** A request to a thread. */
export type Asked =
  | { ask: 'read'; entry: string }
  | { ask: 'invoke'; id: number; claim: Claim; fn: FunctionPlan; event: string; requestId: string }
  | { ask: 'turn'; turn: number };

/** A message of a thread. */
export type Told =
  | { tell: 'content'; content: ModuleContent }
  | { tell: 'unreadable'; fault: Fault }
  | { tell: 'taken'; id: number }
  /** `files`: loaded since its last message. */
  | { tell: 'begun'; id: number; timeoutMs: number; files: LoadedFile[] }
  | {
      tell: 'done';
      id: number;
      result: InvocationResult;
      fault: Fault | undefined;
      isLoaded: boolean;
      files: LoadedFile[];
    }
  | { tell: 'turned'; turn: number }
  | { tell: 'exits'; fault: Fault };

export interface OwnThread {
  /** Its number among all threads of the process. */
  readonly number: number;
  ask(asked: Exclude<Asked, { ask: 'turn' }>): void;
  /** Whether the thread has been blocked for a while. Known only while the thread is watched. */
  isBlocked(): boolean;
  /**
   * Resolves with true as soon as the thread handles other events, and with false when it has not for a
   * while.
   */
  turns(): Promise<boolean>;
  /** While the thread is at work, checks repeatedly whether it is blocked. */
  watch(isAtWork: boolean): void;
  /**
   * Resolves when the thread is gone, or when only the end of the process can end it, because it waits for
   * another process.
   */
  end(fault: Fault): Promise<void>;
}

/** Beside this module. In the package it is a module of its own (build/command.ts). */
const PROGRAM = import.meta.url.endsWith('/own-thread.ts') ? './thread-program.ts' : './own-functions.mjs';

/** A thread that handles no other events for this long is blocked. */
export const BLOCKED_AFTER_MS = 500;
const LOOK_EVERY_MS = 250;
/** A thread that can be ended is gone long before this. */
const STUCK_AFTER_MS = 1_000;

/** The error that ended a thread. */
const outsideOfCalls = (error: unknown, memoryMb: number): Fault => {
  if (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY')
    return { reason: `it needed more than the ${memoryMb} MB of a function` };
  return faultOutsideOfCalls(error);
};

interface Asking {
  turn: number;
  sinceMs: number;
}

export const startOwnThread = (options: {
  /** Size of its heap. */
  memoryMb: number;
  onTold: (told: Told) => void;
  onGone: (why: Fault) => void;
}): OwnThread => {
  const turned: TurnCounter = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const worker = new Worker(new URL(PROGRAM, import.meta.url), {
    env: { ...process.env },
    workerData: turned,
    resourceLimits: { maxOldGenerationSizeMb: options.memoryMb },
  });
  // A waiting call keeps the cloud alive; the thread does not.
  worker.unref();
  const { threadId: number } = worker;
  const gone = Promise.withResolvers<void>();
  /** Callers that wait for a turn. */
  const waiting = new Map<number, () => void>();
  let why: Fault | undefined;
  let turn = 0;
  let last: Asking = { turn: 0, sinceMs: 0 };
  let looking: NodeJS.Timeout | undefined;

  const post = (asked: Asked): void => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
    worker.postMessage(asked);
  };
  const hasTurned = (asked: number): boolean => Atomics.load(turned, 0) >= asked;
  const askForTurn = (): number => {
    turn += 1;
    // A turn that it still owes shows since when it is blocked.
    if (hasTurned(last.turn)) last = { turn, sinceMs: performance.now() };
    post({ ask: 'turn', turn });
    return turn;
  };
  const isBlocked = (): boolean =>
    !hasTurned(last.turn) && performance.now() - last.sinceMs >= BLOCKED_AFTER_MS;

  worker.on('message', (told: Told) => {
    if (told.tell === 'turned') waiting.get(told.turn)?.();
    else if (told.tell === 'exits') why ??= told.fault;
    else options.onTold(told);
  });
  worker.on('error', (error: unknown) => {
    why ??= outsideOfCalls(error, options.memoryMb);
  });
  worker.on('exit', (code) => {
    clearInterval(looking);
    for (const resolve of waiting.values()) resolve();
    options.onGone(why ?? { reason: `it ended with code ${code}` });
    gone.resolve();
  });

  return {
    number,
    ask: post,
    isBlocked,
    turns: async () => {
      const asked = askForTurn();
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.set(asked, resolve);
      await Promise.race([promise, delay(BLOCKED_AFTER_MS, undefined, { ref: false })]);
      waiting.delete(asked);
      return hasTurned(asked);
    },
    watch: (isAtWork) => {
      if (isAtWork === (looking !== undefined)) return;
      clearInterval(looking);
      looking = isAtWork
        ? setInterval(() => {
            if (hasTurned(last.turn)) askForTurn();
          }, LOOK_EVERY_MS).unref()
        : undefined;
    },
    end: async (fault) => {
      why ??= fault;
      worker.terminate().catch(() => undefined);
      await Promise.race([gone.promise, delay(STUCK_AFTER_MS, undefined, { ref: false })]);
    },
  };
};
