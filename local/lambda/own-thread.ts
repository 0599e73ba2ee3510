/**
 * The thread in which functions run that are not Walkback's own: those of one directory or module. The cloud serves everything
 * else from its own thread, so one that blocks, or fails outside of a call, stops only those beside it. A process would keep
 * them apart as well, but one that blocks would outlive a cloud that was killed.
 */
import { Worker } from 'node:worker_threads';
import * as z from 'zod';
import { WalkbackError } from '../../core/shared/errors.ts';
import type { FunctionPlan } from '../plan.ts';
import { withinTimeLimit } from './invoke.ts';
import { functionError, type InvocationResult } from './run-handler.ts';

/** What the thread is asked. */
export type Asked =
  | { ask: 'read'; entry: string; instance: string }
  | { ask: 'invoke'; fn: FunctionPlan; instance: string; event: string; requestId: string }
  | { ask: 'turn' };

/** What it says: that a call has begun, and what became of it. */
export type Told = { id: number } & (
  | { tell: 'begun' }
  | { tell: 'done'; answer: unknown }
  | { tell: 'failed'; message: string }
);

const moduleSchema = z.object({ functions: z.array(z.string()), timeoutSeconds: z.unknown() });
export type ModuleContent = z.infer<typeof moduleSchema>;

const resultSchema = z.object({ failed: z.boolean(), payload: z.string() });

interface Pending {
  asked: Asked;
  begun: boolean;
  /** Told when it begins. */
  begins?: (() => void) | undefined;
  /** Its caller was told that its time is over. */
  over: boolean;
  /** The thread that was asked last. */
  by?: Running;
  settle: PromiseWithResolvers<unknown>;
}

interface Running {
  worker: Worker;
  pending: Map<number, Pending>;
  /** It has said something: it can run, and what did not begin in it may begin in another one. */
  works: boolean;
}

export interface OwnThread {
  /** What a module exports. Rejects with what is wrong with it. */
  read(entry: string, instance: string): Promise<ModuleContent>;
  /** `begins` is told when it begins: what waits behind one that blocks the thread has not, and none of its time is over. */
  invoke(
    fn: FunctionPlan,
    instance: string,
    event: unknown,
    requestId: string,
    begins?: () => void,
  ): Promise<InvocationResult>;
  /** The next call has a fresh thread, with the environment as it is then. */
  restart(): void;
  close(): Promise<void>;
}

/** Beside this module; in the package, a module of its own (build/command.ts). */
const PROGRAM = import.meta.url.endsWith('/own-thread.ts') ? './thread-program.ts' : './own-functions.mjs';

/** A thread that has not answered for so long, after one of its calls ran out of time, is blocked. */
const BLOCKED_AFTER_MS = 5_000;

const ended = (requestId: string): InvocationResult =>
  functionError('Runtime.ExitError', `RequestId: ${requestId} Error: Runtime exited`);

/** Its exit is told by an event. */
const stop = (worker: Worker): void => void worker.terminate().catch(() => undefined);

export const createOwnThread = (): OwnThread => {
  let running: Running | undefined;
  const all = new Set<Worker>();
  let lastId = 0;
  let closed = false;

  /** What had begun has ended with it; what had not is asked of the next one. */
  const onExit = ({ worker, pending, works }: Running): void => {
    all.delete(worker);
    if (running?.worker === worker) running = undefined;
    for (const one of pending.values()) {
      const { asked, settle } = one;
      if (asked.ask === 'invoke' && (one.begun || one.over || closed || !works))
        settle.resolve(ended(asked.requestId));
      else if (asked.ask === 'invoke') post(one);
      else settle.reject(new Error('it ended its process'));
    }
  };

  const start = (): Running => {
    const worker = new Worker(new URL(PROGRAM, import.meta.url), { env: { ...process.env } });
    const started: Running = { worker, pending: new Map(), works: false };
    all.add(worker);
    // Whoever waits for a call keeps the cloud alive, not the thread.
    worker.unref();
    worker.on('message', (told: Told) => {
      started.works = true;
      const one = started.pending.get(told.id);
      if (one === undefined) return;
      if (told.tell === 'begun') {
        one.begun = true;
        one.begins?.();
        return;
      }
      started.pending.delete(told.id);
      if (told.tell === 'done') one.settle.resolve(told.answer);
      else one.settle.reject(new Error(told.message));
      retire(started);
    });
    worker.on('error', (error: unknown) => {
      process.stderr.write(`a function of your own failed outside of a call: ${String(error)}\n`);
    });
    worker.on('exit', () => onExit(started));
    return started;
  };

  /** One that was replaced ends with its last call. */
  const retire = (one: Running): void => {
    if (one !== running && one.pending.size === 0) stop(one.worker);
  };

  const post = (one: Pending, by: Running = (running ??= start())): void => {
    lastId += 1;
    by.pending.set(lastId, one);
    one.by = by;
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has none
    by.worker.postMessage({ id: lastId, asked: one.asked });
  };

  const pendingFor = (asked: Asked): Pending => ({
    asked,
    begun: false,
    over: false,
    settle: Promise.withResolvers<unknown>(),
  });

  const ask = (asked: Asked, of?: Running): Promise<unknown> => {
    const one = pendingFor(asked);
    post(one, of);
    return one.settle.promise;
  };

  /** As Lambda ends an instance whose time is over; here only when it cannot go on, because others may be at work in it. */
  const endIfBlocked = (one: Running): void => {
    if (!all.has(one.worker)) return;
    const timer = setTimeout(() => stop(one.worker), BLOCKED_AFTER_MS).unref();
    const turns = () => clearTimeout(timer);
    ask({ ask: 'turn' }, one).then(turns, turns);
  };

  return {
    read: async (entry, instance) => moduleSchema.parse(await ask({ ask: 'read', entry, instance })),
    invoke: (fn, instance, event, requestId, begins) => {
      const text = JSON.stringify(event ?? null);
      const one = pendingFor({ ask: 'invoke', fn, instance, event: text, requestId });
      const run = async (begin: () => void) => {
        one.begins = () => {
          begin();
          begins?.();
        };
        post(one);
        return resultSchema.parse(await one.settle.promise);
      };
      return withinTimeLimit(fn, requestId, run, () => {
        one.over = true;
        if (one.by !== undefined) endIfBlocked(one.by);
      });
    },
    restart: () => {
      const before = running;
      running = undefined;
      if (before !== undefined) retire(before);
    },
    close: async () => {
      closed = true;
      await Promise.all([...all].map((worker) => worker.terminate()));
    },
  };
};

/** An error about a module of somebody else's, as `read` rejects with. */
export const unreadable = (entry: string, error: unknown): WalkbackError =>
  new WalkbackError(
    'ConfigurationError',
    `${entry} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`,
    { cause: error },
  );
