/** The use cases that the tools of workspaces call, and what an error of one of them means to a saga. */
import { isRefusal } from '../../contract/errors.ts';
import { createExpectUnused } from '../../core/checkpoint/copies/expect-unused.ts';
import { createEndSession } from '../../core/checkpoint/lifecycle/end-session.ts';
import { createForkSession } from '../../core/checkpoint/lifecycle/fork-session.ts';
import { createMerge } from '../../core/checkpoint/merge/merge.ts';
import { createRevert } from '../../core/checkpoint/merge/revert.ts';
import type { Workspaces } from '../../core/checkpoint/ports/workspace.ts';
import type { RehydrateDeps } from '../../core/checkpoint/rehydrate/rehydrate.ts';
import { createRollback } from '../../core/checkpoint/rollback/rollback.ts';
import { createTakeCheckpoint } from '../../core/checkpoint/take/take-checkpoint.ts';
import { createPreflight } from '../../core/checkpoint/workspace/preflight.ts';
import { createVerifyCommitments } from '../../core/checkpoint/workspace/verify-commitments.ts';
import { isWalkbackError } from '../../core/shared/errors.ts';
import { sha256Hex } from '../../core/shared/ids.ts';
import type { ToolCall } from '../../kit/define-tool.ts';
import { ToolRejected } from '../../kit/outcomes.ts';

export type WorkspacePorts = RehydrateDeps & { workspaces: Workspaces };

export const createUses = (ports: WorkspacePorts) => ({
  ports,
  checkpoint: createTakeCheckpoint(ports),
  endSession: createEndSession({
    ...ports,
    forSandbox: async () => ports,
    expectUnused: createExpectUnused({ store: ports.store, sandboxes: async () => ports.sandboxes }),
  }),
  fork: createForkSession(ports),
  merge: createMerge(ports),
  preflight: createPreflight(ports),
  revert: createRevert(ports),
  rollback: createRollback(ports),
  verify: createVerifyCommitments(ports),
});
export type Uses = ReturnType<typeof createUses>;

/** The id under which a call's work is done, found and taken back: the runtime made the key, never the model. */
export const requestOf = (forwardKey: string): string => `tool-${sha256Hex(forwardKey).slice(0, 40)}`;

export const invocationOf = ({ deadlineMs }: ToolCall) => ({ deadlineMs });

/**
 * A refusal says that nothing was changed. After any other error it is not known; the same key again goes on with the
 * same request.
 */
export const refusing = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!isWalkbackError(error) || !isRefusal(error.name)) throw error;
    throw new ToolRejected(error.name, error.message, { retryable: error.retryable });
  }
};
