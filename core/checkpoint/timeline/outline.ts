/** Makes a checkpoint's outline, which lists show: it is small, and stored beside the checkpoint itself. Pure. */

import type { Checkpoint } from '../model.ts';
import type { CheckpointOutline, TreeNode } from '../ports/stores.ts';
import { linesOf } from '../session/session-item.ts';

export const nodeOf = (checkpoint: TreeNode): TreeNode => ({
  seq: checkpoint.seq,
  parentSeq: checkpoint.parentSeq,
  messageId: checkpoint.messageId,
  messageOrder: checkpoint.messageOrder,
  checkpointId: checkpoint.checkpointId,
  reason: checkpoint.reason,
  complete: checkpoint.complete,
  detached: checkpoint.detached,
  createdAt: checkpoint.createdAt,
  ...(checkpoint.unowned && { unowned: true }),
  ...(checkpoint.mergedFrom && { mergedFrom: checkpoint.mergedFrom }),
  ...(checkpoint.takesBack && { takesBack: checkpoint.takesBack }),
  ...(checkpoint.forkedFrom && { forkedFrom: checkpoint.forkedFrom }),
  ...(checkpoint.halfWritten && { halfWritten: true }),
});

export const outlineOf = (checkpoint: Checkpoint): CheckpointOutline => ({
  ...nodeOf(checkpoint),
  epoch: checkpoint.epoch,
  toolExecutionId: checkpoint.toolExecutionId,
  sandboxId: checkpoint.sandboxId,
  lines: linesOf(checkpoint),
  ...(checkpoint.content?.tool && { tool: checkpoint.content.tool.name }),
  ...(checkpoint.by && { by: checkpoint.by }),
});
