/** Task tokens: which state waits on which token, and whether it still does. */
import { randomUUID } from 'node:crypto';
import { TaskError } from './task-error.ts';

interface Waiting {
  execution: string;
  /** The state that waits on the token. */
  state: string | undefined;
  settle: PromiseWithResolvers<unknown>;
}

export type TokenAnswer = 'taken' | 'TaskDoesNotExist' | 'TaskTimedOut';

/**
 * Number of closed tokens that are remembered. A late answer to an older one is told that the token does not
 * exist.
 */
const REMEMBERED = 10_000;

export const createTokens = () => {
  const open = new Map<string, Waiting>();
  const byExecution = new Map<string, Set<string>>();
  /** In the order in which they were closed. */
  const closed = new Set<string>();

  const shut = (token: string, { execution }: Waiting): void => {
    open.delete(token);
    const mine = byExecution.get(execution);
    mine?.delete(token);
    if (mine?.size === 0) byExecution.delete(execution);
    closed.add(token);
    for (const oldest of closed) {
      if (closed.size <= REMEMBERED) break;
      closed.delete(oldest);
    }
  };

  const answer = (token: string, act: (waiting: Waiting) => void): TokenAnswer => {
    const waiting = open.get(token);
    if (waiting === undefined) return closed.has(token) ? 'TaskTimedOut' : 'TaskDoesNotExist';
    shut(token, waiting);
    act(waiting);
    return 'taken';
  };

  return {
    /** A new token of an execution; every attempt of a task gets its own. */
    mint: (execution: string): string => {
      const token = randomUUID();
      const settle = Promise.withResolvers<unknown>();
      // Perhaps nobody is waiting when it is settled.
      settle.promise.catch(() => undefined);
      open.set(token, { execution, state: undefined, settle });
      byExecution.set(execution, (byExecution.get(execution) ?? new Set()).add(token));
      return token;
    },
    /**
     * A state begins to hand the token out. Answers how to wait for its answer, also when that has come
     * already.
     */
    adopt: (token: string, state: string): (() => Promise<unknown>) => {
      const waiting = open.get(token);
      if (waiting === undefined)
        return () => Promise.reject(new TaskError('TaskDoesNotExist', 'unknown token'));
      waiting.state = state;
      return () => waiting.settle.promise;
    },
    succeed: (token: string, output: unknown) => answer(token, ({ settle }) => settle.resolve(output)),
    fail: (token: string, error: string, cause: string) =>
      answer(token, ({ settle }) => settle.reject(new TaskError(error, cause))),
    heartbeat: (token: string): TokenAnswer => {
      if (open.has(token)) return 'taken';
      return closed.has(token) ? 'TaskTimedOut' : 'TaskDoesNotExist';
    },
    /**
     * The waiting state is left or, when no state is given, the whole execution has ended. A late answer is
     * told so.
     */
    close: (execution: string, state?: string): void => {
      for (const token of byExecution.get(execution) ?? []) {
        const waiting = open.get(token);
        if (waiting !== undefined && (state === undefined || waiting.state === state)) shut(token, waiting);
      }
    },
  };
};

export type Tokens = ReturnType<typeof createTokens>;
