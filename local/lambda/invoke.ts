/** Runs one invocation the way the service does: with a time limit, and for a function of this process under its name. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { FunctionPlan } from '../plan.ts';
import type { Handler } from './handler.ts';
import { functionError, type InvocationResult, runHandler } from './run-handler.ts';

/** The name of the function on whose behalf something runs: they share our process, and a role is one function's. */
export const runningFunction = new AsyncLocalStorage<string>();

/**
 * Never rejects. After the function's time limit the answer is a timeout, as deployed; `onOver` is told then. The time begins
 * when `run` calls `begin`.
 */
export const withinTimeLimit = async (
  fn: FunctionPlan,
  requestId: string,
  run: (begin: () => void) => Promise<InvocationResult>,
  onOver?: () => void,
): Promise<InvocationResult> => {
  const timeout = Promise.withResolvers<InvocationResult>();
  let timer: NodeJS.Timeout | undefined;
  const begin = (): void => {
    timer ??= setTimeout(() => {
      const seconds = (fn.timeoutMs / 1000).toFixed(2);
      timeout.resolve(
        functionError(
          'Sandbox.Timedout',
          `RequestId: ${requestId} Error: Task timed out after ${seconds} seconds`,
        ),
      );
      onOver?.();
    }, fn.timeoutMs);
  };
  try {
    return await Promise.race([run(begin), timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
};

/** In this process; what still runs after the time limit, runs on. */
export const invokeHandler = (
  fn: FunctionPlan,
  load: () => Promise<Handler>,
  event: unknown,
  requestId: string,
): Promise<InvocationResult> =>
  withinTimeLimit(fn, requestId, (begin) => {
    begin();
    return runningFunction.run(fn.name, () => runHandler(fn, load, event, requestId));
  });
