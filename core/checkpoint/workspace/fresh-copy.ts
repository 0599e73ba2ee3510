/**
 * A fresh copy of a checkpoint for one piece of work (W6). It is always killed afterwards. If the function was killed, its copy
 * ends by itself when the function's time is over.
 */
import type { RehydrateAnswer } from '../../../contract/checkpoint-answers.ts';
import type { Invocation } from '../../shared/deadline.ts';
import type { ExecutionAdapter } from '../ports/sandbox.ts';
import { createRehydrate, type RehydrateDeps } from '../rehydrate/rehydrate.ts';
import { rehydrateTags } from '../session/rehydrate-tags.ts';
import { killSandboxes } from './kill-sandboxes.ts';

/** The copy outlives the call by at most this much. */
const LINGER_MS = 30_000;
const LEAST_LIFE_MS = 10_000;

/** `name`: request id of the rehydrate, new for each copy: a second use would find what the first one left. */
export interface CopyOf {
  sessionId: string;
  checkpointId: string;
  name: string;
  template?: string | undefined;
}

export const createFreshCopy = (deps: RehydrateDeps) => {
  const { sandboxes, clock } = deps;
  const rehydrate = createRehydrate(deps);

  return {
    use: async <T>(
      { sessionId, checkpointId, name, template }: CopyOf,
      invocation: Invocation,
      work: (sandbox: ExecutionAdapter, copy: RehydrateAnswer) => Promise<T>,
    ): Promise<T> => {
      const leftMs = invocation.deadlineMs - clock.now().getTime();
      let copied: string | undefined;
      try {
        const copy = await rehydrate(
          {
            sessionId,
            checkpointId,
            mode: 'review',
            requestId: name,
            timeoutMs: Math.max(LEAST_LIFE_MS, leftMs + LINGER_MS),
            ...(template !== undefined && { template }),
          },
          invocation,
        );
        copied = copy.sandboxId;
        return await work(await sandboxes.open(copied), copy);
      } finally {
        await killSandboxes(deps, rehydrateTags(sessionId, name), copied);
      }
    },

    /** Kills what a call that was cut off has left under this name. */
    clear: ({ sessionId, name }: Pick<CopyOf, 'sessionId' | 'name'>): Promise<void> =>
      killSandboxes(deps, rehydrateTags(sessionId, name)),
  };
};
