/** Task tokens: who waits, and whether anybody still does. */
import { randomUUID } from 'node:crypto';
import { TaskError } from './task-error.ts';

interface Waiting {
  execution: string;
  /** The state that waits on it. */
  state: string | undefined;
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
      tokens.set(token, { execution, state: undefined, settle, open: true });
      return token;
    },
    /** What it is answered with. An answer may have come before. */
    wait: (token: string): Promise<unknown> =>
      tokens.get(token)?.settle.promise ?? Promise.reject(new TaskError('TaskDoesNotExist', 'unknown token')),
    /** A state begins to hand the token out. */
    adopt: (token: string, state: string): void => {
      const waiting = tokens.get(token);
      if (waiting !== undefined) waiting.state = state;
    },
    succeed: (token: string, output: unknown) => answer(token, ({ settle }) => settle.resolve(output)),
    fail: (token: string, error: string, cause: string) =>
      answer(token, ({ settle }) => settle.reject(new TaskError(error, cause))),
    heartbeat: (token: string): TokenAnswer => {
      const waiting = tokens.get(token);
      if (waiting === undefined) return 'TaskDoesNotExist';
      return waiting.open ? 'taken' : 'TaskTimedOut';
    },
    /** The state that waited is left, or without one the whole execution: a late answer is told so. */
    close: (execution: string, state?: string): void => {
      for (const waiting of tokens.values()) {
        const left = state === undefined || waiting.state === state;
        if (waiting.execution === execution && left) waiting.open = false;
      }
    },
  };
};

export type Tokens = ReturnType<typeof createTokens>;
