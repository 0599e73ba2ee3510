/**
 * The functions of one cloud, running in this process. Owns which instance of each handler is warm, and which
 * invocations are under way.
 */
import { randomUUID } from 'node:crypto';
import { WalkbackError } from '../../core/shared/errors.ts';
import type { FunctionPlan } from '../plan.ts';
import { createAdmission } from './admission.ts';
import { type Handler, loadHandler } from './handler.ts';
import { type InvocationResult, invokeHandler } from './invoke.ts';
import { findOwnFunctions, versionOf } from './own-functions.ts';

export interface LocalFunctions {
  /** By name, ARN or partial ARN, with or without a qualifier; undefined when there is none. */
  find(reference: string): FunctionPlan | undefined;
  /** In its turn, when many invocations of it begin at once. `begins` is told then. */
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
}

const plainName = (reference: string): string =>
  (/(?:^|:)function:([^:]+)/.exec(reference)?.[1] ?? reference).split(':')[0] ?? '';

export const createFunctions = (plans: FunctionPlan[]): LocalFunctions => {
  const byName = new Map(plans.map((plan) => [plan.name, plan]));
  const warm = new Map<string, { version: string; handler: Promise<Handler> }>();
  const running = new Set<Promise<unknown>>();
  const admission = createAdmission();
  let instance: string = randomUUID();

  const load = (fn: FunctionPlan): Promise<Handler> => {
    const version = versionOf(fn);
    const existing = warm.get(fn.name);
    if (existing?.version === version) return existing.handler;
    const handler = loadHandler(fn.entry, version === '' ? instance : `${instance}-${version}`, fn.exported);
    warm.set(fn.name, { version, handler });
    // A module that cannot start is tried again by the next invocation, as deployed.
    handler.catch(() => warm.delete(fn.name));
    return handler;
  };

  return {
    find: (reference) => byName.get(plainName(reference)),
    invoke: (fn, event, { requestId, begins } = {}) => {
      const work = () => invokeHandler(fn, () => load(fn), event, requestId);
      const invocation = admission.inTurn(fn.name, work, begins);
      running.add(invocation);
      const ended = () => running.delete(invocation);
      invocation.then(ended, ended);
      return invocation;
    },
    add: async (source) => {
      const plans = await findOwnFunctions(source, instance);
      for (const plan of plans) {
        if (byName.has(plan.name))
          throw new WalkbackError(
            'ConfigurationError',
            `${plan.entry}: there is a function "${plan.name}" already`,
          );
        byName.set(plan.name, plan);
      }
      return plans;
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
