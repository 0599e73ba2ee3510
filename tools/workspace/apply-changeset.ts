import * as z from 'zod';
import { id, repositoryPaths } from '../../contract/fields.ts';
import { isOpen } from '../../core/checkpoint/rollback/rollback-phase.ts';
import { defineTool, type Tool } from '../../kit/define-tool.ts';
import { DAY_SECONDS, TIMEOUT_SECONDS } from './timing.ts';
import { invocationOf, refusing, requestOf, type Uses } from './uses.ts';

/**
 * Merges the work of one session into another, all repositories or none. Undone by taking back what the merge changed; what
 * was done in the target since then stays.
 */
export const applyChangeset = ({ merge, revert, ports }: Uses): Tool =>
  defineTool({
    name: 'apply_changeset',
    version: '1.0.0',
    description: 'Merges a workspace into a session, all repositories or none. Undone by revert_changeset.',
    effect: 'compensatable',
    timeoutSeconds: TIMEOUT_SECONDS,
    idempotencyWindowSeconds: DAY_SECONDS,
    // Of all sagas of a project that apply to this session, one at a time.
    resourceKey: "'apply ' & into",
    exclusive: true,
    input: z.strictObject({
      from: id.describe('the workspace: what its last checkpoint holds'),
      into: id.describe('the session that the work comes into'),
      paths: repositoryPaths.optional(),
    }),
    output: z.object({
      status: z.string(),
      checkpointId: z.string(),
      undoCheckpointId: z.string().nullable(),
      files: z.int().describe('written and deleted in the target'),
    }),
    externalRef: ({ checkpointId }) => checkpointId,
    execute: async ({ from, into, paths }, call) => {
      const requestId = requestOf(call.forwardKey);
      await call.fence();
      const answer = await refusing(() =>
        merge({ from, into, requestId, ...(paths !== undefined && { paths }) }, invocationOf(call)),
      );
      const { status, checkpointId, undoCheckpointId, repositories } = answer;
      const files = repositories.reduce((sum, { written, deleted }) => sum + written + deleted, 0);
      return { status, checkpointId, undoCheckpointId: undoCheckpointId ?? null, files };
    },
    compensate: {
      name: 'revert_changeset',
      timeoutSeconds: TIMEOUT_SECONDS,
      // By key: the journal of the merge says whether anything was applied.
      execute: async ({ arguments: { from, into, paths } }, call) => {
        const requestId = requestOf(call.forwardKey);
        const begun = await ports.store.getRollback(into, requestId);
        if (begun === undefined || begun.phase === 'failed') return {};
        if (isOpen(begun)) {
          // It may have written: it is brought to its end first, so that there is one thing to take back.
          await merge({ from, into, requestId, ...(paths !== undefined && { paths }) }, invocationOf(call));
        }
        const done = await ports.store.getRollback(into, requestId);
        const merged = done?.phase === 'done' ? done.result?.checkpointId : undefined;
        if (merged === undefined) return {};
        const { checkpointId } = await revert(
          { sessionId: into, checkpointIds: [merged], requestId: `${requestId}.undo` },
          invocationOf(call),
        );
        return { externalRef: checkpointId };
      },
    },
  });
