/**
 * The functions of one cloud, running in this process. Owns which instance of each handler is warm, and which
 * invocations are under way.
 */
import { randomUUID } from 'node:crypto';
import type { FunctionPlan } from '../plan.ts';
import { type Handler, loadHandler } from './handler.ts';
import { type InvocationResult, invokeHandler } from './invoke.ts';

export interface LocalFunctions {
  /** By name, ARN or partial ARN, with or without a qualifier; undefined when there is none. */
  find(reference: string): FunctionPlan | undefined;
  invoke(fn: FunctionPlan, event: unknown, requestId?: string): Promise<InvocationResult>;
  /** The next invocation of every function starts a fresh instance, reading the environment again. */
  coldStart(): void;
  /** Resolves when nothing runs any more. */
  idle(): Promise<void>;
}

const plainName = (reference: string): string =>
  (/(?:^|:)function:([^:]+)/.exec(reference)?.[1] ?? reference).split(':')[0] ?? '';

export const createFunctions = (plans: FunctionPlan[]): LocalFunctions => {
  const byName = new Map(plans.map((plan) => [plan.name, plan]));
  const warm = new Map<string, Promise<Handler>>();
  const running = new Set<Promise<unknown>>();
  let instance: string = randomUUID();

  const load = (fn: FunctionPlan): Promise<Handler> => {
    const existing = warm.get(fn.name);
    if (existing !== undefined) return existing;
    const loading = loadHandler(fn.entry, instance);
    warm.set(fn.name, loading);
    // A module that can not start is tried again by the next invocation, as deployed.
    loading.catch(() => warm.delete(fn.name));
    return loading;
  };

  return {
    find: (reference) => byName.get(plainName(reference)),
    invoke: (fn, event, requestId) => {
      const invocation = invokeHandler(fn, () => load(fn), event, requestId);
      running.add(invocation);
      const ended = () => running.delete(invocation);
      invocation.then(ended, ended);
      return invocation;
    },
    coldStart: () => {
      warm.clear();
      instance = randomUUID();
    },
    idle: async () => {
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
};
