/**
 * The functions of one cloud: Walkback's in this thread, those of whoever runs it in threads beside it. Owns which instance of
 * each handler is warm, and which invocations are under way.
 */
import { randomUUID } from 'node:crypto';
import { WalkbackError } from '../../core/shared/errors.ts';
import type { FunctionPlan } from '../plan.ts';
import { createAdmission } from './admission.ts';
import { type Handler, loadHandler } from './handler.ts';
import { invokeHandler } from './invoke.ts';
import { findOwnFunctions, versionOf } from './own-functions.ts';
import { createOwnThread, type OwnThread } from './own-thread.ts';
import type { InvocationResult } from './run-handler.ts';

export interface LocalFunctions {
  /** By name, ARN or partial ARN, with or without a qualifier; undefined when there is none. */
  find(reference: string): FunctionPlan | undefined;
  /** In its turn, when many invocations of it begin at once. `begins` is told when it does. */
  invoke(
    fn: FunctionPlan,
    event: unknown,
    more?: { requestId?: string; begins?: (() => void) | undefined },
  ): Promise<InvocationResult>;
  /** Serves the functions of a directory or module as well. `ConfigurationError` names what is wrong with which file. */
  add(source: string): Promise<FunctionPlan[]>;
  /** The next invocation of every function starts a fresh instance, reading the environment again. */
  coldStart(): void;
  /** Resolves when nothing runs any more. */
  idle(): Promise<void>;
  /** Ends the threads, and what still runs in them. */
  close(): Promise<void>;
}

const plainName = (reference: string): string =>
  (/(?:^|:)function:([^:]+)/.exec(reference)?.[1] ?? reference).split(':')[0] ?? '';

export const createFunctions = (plans: FunctionPlan[]): LocalFunctions => {
  const byName = new Map(plans.map((plan) => [plan.name, plan]));
  const warm = new Map<string, Promise<Handler>>();
  /** Of functions that are not ours, by name. */
  const threads = new Map<string, OwnThread>();
  const running = new Set<Promise<unknown>>();
  const admission = createAdmission();
  let instance: string = randomUUID();

  const load = (fn: FunctionPlan): Promise<Handler> => {
    const existing = warm.get(fn.name);
    if (existing !== undefined) return existing;
    const handler = loadHandler(fn.entry, instance, fn.exported);
    warm.set(fn.name, handler);
    // A module that cannot start is tried again by the next invocation, as deployed.
    handler.catch(() => warm.delete(fn.name));
    return handler;
  };

  const run = (
    fn: FunctionPlan,
    event: unknown,
    requestId: string,
    begins?: () => void,
  ): Promise<InvocationResult> => {
    const thread = threads.get(fn.name);
    // An edited file is another module.
    if (thread !== undefined)
      return thread.invoke(fn, `${instance}-${versionOf(fn)}`, event, requestId, begins);
    begins?.();
    return invokeHandler(fn, () => load(fn), event, requestId);
  };

  return {
    find: (reference) => byName.get(plainName(reference)),
    invoke: (fn, event, { requestId = randomUUID(), begins } = {}) => {
      const invocation = admission.inTurn(fn.name, () => run(fn, event, requestId, begins));
      running.add(invocation);
      const ended = () => running.delete(invocation);
      invocation.then(ended, ended);
      return invocation;
    },
    add: async (source) => {
      const thread = createOwnThread();
      try {
        const found = await findOwnFunctions(source, instance, thread);
        const twin = found.find(({ name }) => byName.has(name));
        if (twin !== undefined)
          throw new WalkbackError(
            'ConfigurationError',
            `${twin.entry}: there is a function "${twin.name}" already`,
          );
        for (const plan of found) {
          byName.set(plan.name, plan);
          threads.set(plan.name, thread);
        }
        return found;
      } catch (error) {
        await thread.close();
        throw error;
      }
    },
    coldStart: () => {
      warm.clear();
      instance = randomUUID();
      for (const thread of new Set(threads.values())) thread.restart();
    },
    idle: async () => {
      while (running.size > 0) await Promise.allSettled(running);
    },
    close: async () => {
      await Promise.all([...new Set(threads.values())].map((thread) => thread.close()));
    },
  };
};
