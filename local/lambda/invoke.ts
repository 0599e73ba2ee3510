/**
 * Runs one invocation as the service does: with a time limit, and for a function of this process under its
 * name.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { FunctionPlan } from '../plan.ts';
import type { Handler } from './handler.ts';
import { functionError, type InvocationResult, runHandler } from './run-handler.ts';

/**
 * The name of the function on whose behalf something runs. Functions share our process, but each has a role
 * of its own.
 */
export const runningFunction = new AsyncLocalStorage<string>();

/**
 * Rejects only when `run` does. After the time limit the answer is a timeout, as when deployed, whatever
 * `run` answers. Before that, `onOver` does what it must. The time begins when `run` calls `begin`, and anew
 * with each further call of it.
 */
export const withinTimeLimit = async (
  requestId: string,
  run: (begin: (timeoutMs: number) => void) => Promise<InvocationResult>,
  onOver: (timeoutMs: number) => Promise<void> = async () => undefined,
): Promise<InvocationResult> => {
  const timeout = Promise.withResolvers<InvocationResult>();
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const begin = (timeoutMs: number): void => {
    if (isOver) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      isOver = true;
      const text = `RequestId: ${requestId} Error: Task timed out after ${(timeoutMs / 1000).toFixed(2)} seconds`;
      const answer = () => timeout.resolve(functionError('Sandbox.Timedout', text));
      onOver(timeoutMs).then(answer, answer);
    }, timeoutMs);
  };
  const inTime = async (): Promise<InvocationResult> => {
    const result = await run(begin);
    return isOver ? timeout.promise : result;
  };
  try {
    return await Promise.race([inTime(), timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
};

/** Runs in this process, and never rejects. What still runs after the time limit goes on running. */
export const invokeHandler = (
  fn: FunctionPlan,
  load: () => Promise<Handler>,
  event: unknown,
  requestId: string,
): Promise<InvocationResult> =>
  withinTimeLimit(requestId, (begin) => {
    begin(fn.timeoutMs);
    return runningFunction.run(fn.name, () => runHandler(fn, load, event, requestId));
  });
