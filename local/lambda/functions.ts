/**
 * The functions of one cloud: Walkback's own in this thread, those of the user in other threads. It owns
 * which instance of each handler is warm, and which invocations are under way.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { FunctionPlan } from '../plan.ts';
import { createAdmission } from './admission.ts';
import { type Handler, loadHandler, newInstance } from './handler.ts';
import { invokeHandler } from './invoke.ts';
import { findOwnFunctions, twins, versionOf } from './own-functions.ts';
import { createOwnThreads } from './own-threads.ts';
import { readModule } from './read-module.ts';
import type { InvocationResult } from './run-handler.ts';

export interface LocalFunctions {
  /** By name, ARN or partial ARN, with or without a qualifier; undefined when there is none. */
  find(reference: string): FunctionPlan | undefined;
  /** Its configuration as its file says now, because a function of the user's may have been edited. */
  current(fn: FunctionPlan): Promise<FunctionPlan>;
  /**
   * Invokes it, in order when many invocations of it begin at once. `begins` is called when it begins.
   * Rejects with `NotBegun` when there was no place for it.
   */
  invoke(
    fn: FunctionPlan,
    event: unknown,
    more?: { requestId?: string; begins?: (() => void) | undefined },
  ): Promise<InvocationResult>;
  /**
   * Serves the functions of a directory or module too. Throws `ConfigurationError`, which names the file and
   * what is wrong with it.
   */
  add(source: string): Promise<FunctionPlan[]>;
  /** The next invocation of every function starts a fresh instance, which reads the environment again. */
  coldStart(): void;
  /** Resolves when nothing runs any more. */
  idle(): Promise<void>;
  /**
   * Lets no function of the user's begin any more, and ends those that block their thread. Resolves when
   * their outcomes are recorded.
   */
  drain(): Promise<void>;
  /** Ends the threads, and what still runs in them. */
  close(): Promise<void>;
  /** After `close`: a thread still exists, and ends only together with this process. */
  isStuck(): boolean;
}

/** An execution goes from one call to the next in much less time. */
const QUIET_MS = 100;

const plainName = (reference: string): string =>
  (/(?:^|:)function:([^:]+)/.exec(reference)?.[1] ?? reference).split(':')[0] ?? '';

export const createFunctions = (
  plans: FunctionPlan[],
  limits: Parameters<typeof createOwnThreads>[0] = {},
): LocalFunctions => {
  const byName = new Map(plans.map((plan) => [plan.name, plan]));
  const warm = new Map<string, Promise<Handler>>();
  /** Functions that are not ours, each with the version of its file from which its time limit was read. */
  const own = new Map<string, string>();
  const threads = createOwnThreads(limits);
  const reading = new Map<string, Promise<void>>();
  const running = new Set<Promise<unknown>>();
  const admission = createAdmission();
  let instance = newInstance();

  const load = (fn: FunctionPlan): Promise<Handler> => {
    const existing = warm.get(fn.name);
    if (existing !== undefined) return existing;
    const handler = loadHandler(fn.entry, instance);
    warm.set(fn.name, handler);
    // A module that cannot start is tried again by the next invocation, as when deployed.
    handler.catch(() => warm.delete(fn.name));
    return handler;
  };

  const learn = (name: string, version: string, timeoutMs: number): void => {
    own.set(name, version);
    const known = byName.get(name);
    if (known !== undefined && known.timeoutMs !== timeoutMs) byName.set(name, { ...known, timeoutMs });
  };

  /** If the file cannot be read, its next call reports it. Until then its last time limit counts. */
  const readAgain = async (fn: FunctionPlan, version: string): Promise<void> => {
    const content = await readModule(fn.entry).catch(() => undefined);
    if (content !== undefined) learn(fn.name, version, content.timeoutMs);
  };

  const run = (
    fn: FunctionPlan,
    event: unknown,
    requestId: string,
    begins: () => void = () => undefined,
  ): Promise<InvocationResult> => {
    if (own.has(fn.name)) {
      const version = versionOf(fn);
      return threads.invoke(`${instance}-${version}`, {
        fn: byName.get(fn.name) ?? fn,
        event,
        requestId,
        onTaken: begins,
        onBegun: (timeoutMs) => learn(fn.name, version, timeoutMs),
      });
    }
    begins();
    return invokeHandler(fn, () => load(fn), event, requestId);
  };

  const idle = async (): Promise<void> => {
    while (running.size > 0) await Promise.allSettled(running);
  };

  return {
    find: (reference) => byName.get(plainName(reference)),
    current: async (fn) => {
      const known = own.get(fn.name);
      const version = versionOf(fn);
      if (known === undefined || known === version) return byName.get(fn.name) ?? fn;
      const read = reading.get(fn.name) ?? readAgain(fn, version).finally(() => reading.delete(fn.name));
      reading.set(fn.name, read);
      await read;
      return byName.get(fn.name) ?? fn;
    },
    invoke: (fn, event, { requestId = randomUUID(), begins } = {}) => {
      const invocation = admission.inTurn(fn.name, () => run(fn, event, requestId, begins));
      running.add(invocation);
      const ended = () => running.delete(invocation);
      invocation.then(ended, ended);
      return invocation;
    },
    add: async (source) => {
      // A file that is named twice counts once.
      const found = (await findOwnFunctions(source)).filter(
        ({ name, entry }) => !own.has(name) || byName.get(name)?.entry !== entry,
      );
      for (const { name, entry } of found) {
        const twin = byName.get(name);
        if (twin !== undefined) throw twins(name, entry, own.has(name) ? twin.entry : undefined);
      }
      for (const plan of found) {
        byName.set(plan.name, plan);
        own.set(plan.name, versionOf(plan));
      }
      return found;
    },
    coldStart: () => {
      warm.clear();
      instance = newInstance();
    },
    idle,
    drain: async () => {
      if (own.size === 0) return idle();
      await threads.drain();
      do {
        await idle();
        await delay(QUIET_MS, undefined, { ref: false });
      } while (running.size > 0);
    },
    close: () => threads.close(),
    isStuck: () => threads.isStuck(),
  };
};
