/** Task tokens: who waits, and whether anybody still does. */
import { randomUUID } from 'node:crypto';
import { TaskError } from './task-error.ts';

interface Waiting {
  execution: string;
  settle: PromiseWithResolvers<unknown>;
  open: boolean;
}

export type TokenAnswer = 'taken' | 'TaskDoesNotExist' | 'TaskTimedOut';

export const createTokens = () => {
  const tokens = new Map<string, Waiting>();

  const answer = (token: string, act: (waiting: Waiting) => void): TokenAnswer => {
    const waiting = tokens.get(token);
    if (waiting === undefined) return 'TaskDoesNotExist';
    if (!waiting.open) return 'TaskTimedOut';
    waiting.open = false;
    act(waiting);
    return 'taken';
  };

  return {
    /** A new token of an execution; every attempt of a task gets its own. */
    mint: (execution: string): string => {
      const token = randomUUID();
      const settle = Promise.withResolvers<unknown>();
      // Nobody may be waiting when it is settled.
      settle.promise.catch(() => undefined);
      tokens.set(token, { execution, settle, open: true });
      return token;
    },
    wait: (token: string): Promise<unknown> =>
      tokens.get(token)?.settle.promise ?? Promise.reject(new TaskError('TaskDoesNotExist', 'unknown token')),
    succeed: (token: string, output: unknown) => answer(token, ({ settle }) => settle.resolve(output)),
    fail: (token: string, error: string, cause: string) =>
      answer(token, ({ settle }) => settle.reject(new TaskError(error, cause))),
    heartbeat: (token: string): TokenAnswer => {
      const waiting = tokens.get(token);
      if (waiting === undefined) return 'TaskDoesNotExist';
      return waiting.open ? 'taken' : 'TaskTimedOut';
    },
    /** The state the execution waited in is left: a late answer is told so. */
    close: (execution: string): void => {
      for (const waiting of tokens.values()) {
        if (waiting.execution === execution) waiting.open = false;
      }
    },
  };
};

export type Tokens = ReturnType<typeof createTokens>;
