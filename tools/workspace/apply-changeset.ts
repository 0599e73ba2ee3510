import * as z from 'zod';
import { checkpointId, id, repositoryPaths } from '../../contract/fields.ts';
import { requireSession } from '../../core/checkpoint/session/session-rules.ts';
import { defineTool, type Tool, type ToolCall } from '../../kit/define-tool.ts';
import { ToolRejected } from '../../kit/outcomes.ts';
import { REVIEW_BY } from '../review-date.ts';
import { APPLY_KEY } from './checkpoints.ts';
import { createTakeBack, requestAt } from './take-back-changesets.ts';
import { isGone } from './taking-back.ts';
import { KNOWN_SECONDS, TIMEOUT_SECONDS } from './timing.ts';
import { invocationOf, refusing, type Uses } from './uses.ts';

/** Of one step. */
const MOST_WORKSPACES = 40;

const input = z
  .strictObject({
    from: z
      .union([
        id,
        z
          .array(id)
          .min(1)
          .max(MOST_WORKSPACES)
          .refine((all) => new Set(all).size === all.length, { error: 'each only once' }),
      ])
      .describe('the workspace: what its last checkpoint holds; or several, merged in this order'),
    into: id.describe('the session that the work comes into'),
    paths: repositoryPaths.optional(),
    checkpointId: checkpointId.optional().describe('the workspace must still stand there (WorkspaceMoved)'),
    expectUnchanged: z
      .boolean()
      .optional()
      .describe('as of walkback-merge: refuses when the target moved (TargetMoved)'),
  })
  .refine(
    (value) =>
      !Array.isArray(value.from) || (value.checkpointId === undefined && value.expectUnchanged !== true),
    { path: ['from'], error: 'with checkpointId or expectUnchanged: one workspace' },
  );
type Input = z.output<typeof input>;

const listOf = ({ from }: Pick<Input, 'from'>): readonly string[] => (Array.isArray(from) ? from : [from]);

/**
 * Merges the work of sessions into another, all repositories or none. Undone by taking back what the merges changed; what
 * was done in the target since then stays.
 */
export const applyChangeset = (uses: Uses): Tool => {
  const { merge, ports } = uses;
  const { takeBack, isBegun } = createTakeBack(uses);

  const requireAt = async ({ from, checkpointId: expected }: Input): Promise<void> => {
    if (expected === undefined || Array.isArray(from)) return;
    const { headSeq } = await requireSession(ports.store, from);
    const head = await ports.store.getCheckpoint(from, headSeq);
    if (head?.checkpointId === expected) return;
    throw new ToolRejected(
      'WorkspaceMoved',
      `Workspace "${from}" stands at ${head?.checkpointId ?? 'no checkpoint'}, not at ${expected}. Verify it again.`,
    );
  };

  const mergeAll = async (all: Input, call: ToolCall) => {
    const { into, paths, expectUnchanged } = all;
    const answers = [];
    for (const [at, from] of listOf(all).entries()) {
      const asked = {
        from,
        into,
        requestId: requestAt(call.forwardKey, at),
        ...(paths !== undefined && { paths }),
        ...(expectUnchanged === true && { expectUnchanged }),
      };
      try {
        answers.push(await refusing(() => merge(asked, invocationOf(call))));
      } catch (error) {
        // A rejection says that nothing happened, so those before it are taken back first.
        if (at > 0 && error instanceof ToolRejected && !error.retryable) {
          await takeBack(all.into, listOf(all).length, call);
          throw new ToolRejected(error.code, `${from}: ${error.message}`.slice(0, 1000));
        }
        throw at > 0 && error instanceof ToolRejected ? new Error(error.message, { cause: error }) : error;
      }
    }
    return answers;
  };

  return defineTool({
    name: 'apply_changeset',
    version: '1.0.0',
    reviewBy: REVIEW_BY,
    description: 'Merges workspaces into a session, all repositories or none. Undone by revert_changeset.',
    effect: 'compensatable',
    timeoutSeconds: TIMEOUT_SECONDS,
    idempotencyWindowSeconds: KNOWN_SECONDS,
    resourceKey: APPLY_KEY,
    exclusive: true,
    input,
    output: z.object({
      status: z.string(),
      checkpointId: z.string(),
      undoCheckpointId: z.string().nullable(),
      files: z.int().describe('written and deleted in the target'),
    }),
    externalRef: ({ checkpointId: made }) => made,
    execute: async (all, call) => {
      await call.fence();
      if (await isBegun(all.into, listOf(all).length, call)) {
        await takeBack(all.into, listOf(all).length, call);
        throw new ToolRejected('ChangesetConflict', 'They conflicted, and what was merged was taken back.');
      }
      await refusing(() => requireAt(all));
      const answers = await mergeAll(all, call);
      const last = answers.at(-1);
      if (last === undefined) throw new Error('There is nothing to merge.');
      const applied = answers.filter(({ status }) => status !== 'NOTHING');
      return {
        status: applied.at(-1)?.status ?? last.status,
        checkpointId: last.checkpointId,
        undoCheckpointId: applied[0]?.undoCheckpointId ?? null,
        files: answers
          .flatMap(({ repositories }) => repositories)
          .reduce((sum, { written, deleted }) => sum + written + deleted, 0),
      };
    },
    compensate: {
      name: 'revert_changeset',
      timeoutSeconds: TIMEOUT_SECONDS,
      execute: async ({ arguments: all, ...undo }, call) => {
        if (await isGone(ports.store, all.into, undo)) return {};
        const externalRef = await takeBack(all.into, listOf(all).length, call, (at) => ({
          from: listOf(all)[at] ?? '',
          into: all.into,
          ...(all.paths !== undefined && { paths: all.paths }),
          ...(all.expectUnchanged === true && { expectUnchanged: true }),
        }));
        return externalRef === undefined ? {} : { externalRef };
      },
    },
  });
};
