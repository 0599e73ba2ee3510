/** A rollback's answer, from what was decided and what the sandbox reported. Pure. */
import type { RestoreReport, TreeNode } from '../ports.ts';
import type { Checkpoint, RollbackResult } from './model.ts';
import { discardedBetween } from './tree.ts';

/** Paths of a plan that are listed per repository; the counts are exact. */
const MAX_PATHS = 200;

/** Single files that could not be read are left where they are, and are not in the undo checkpoint. */
const notUndoable = (undo: Checkpoint): string[] =>
  undo.failures.map(({ path, reason }) => `${path}: not in the undo checkpoint: ${reason}`);

export const rollbackResult = (from: {
  status: RollbackResult['status'];
  journal: { epoch: number };
  target: Checkpoint;
  /** For a plan, the checkpoint the sandbox stands on: nothing was captured that could be undone to. */
  undo: Checkpoint;
  tree: readonly TreeNode[];
  report: RestoreReport;
  warnings: string[];
}): RollbackResult => {
  const { status, target, undo } = from;
  const isPlan = status === 'PLANNED';
  return {
    status,
    checkpointId: target.checkpointId,
    epoch: from.journal.epoch,
    undoCheckpointId: isPlan ? null : undo.checkpointId,
    repositories: from.report.repositories.map(({ path, written, deleted, action, paths }) => ({
      path,
      written,
      deleted,
      action,
      ...(isPlan && { paths: paths.slice(0, MAX_PATHS) }),
    })),
    discardedMessageIds: discardedBetween(from.tree, undo.seq, target.seq),
    trimAfterMessageId: target.messageId,
    warnings: [...from.warnings, ...(isPlan ? [] : notUndoable(undo))],
  };
};
