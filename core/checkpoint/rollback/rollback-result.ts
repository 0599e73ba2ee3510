/** Builds a rollback's answer from its decisions and the sandbox's report. Pure. */
import type { LateWrites } from '../../../contract/answer-fields.ts';
import type { RollbackAnswer } from '../../../contract/rollback-answers.ts';
import type { Checkpoint, ComposedFacts, RollbackJournal } from '../model.ts';
import type { RestoreReport } from '../ports/restore.ts';
import type { TreeNode } from '../ports/stores.ts';
import { discardedBetween } from '../timeline/tree.ts';

/** Paths of a plan that are listed per repository; the counts are exact. */
const MAX_PATHS = 200;

/** Branches that are listed per repository. */
const MAX_BRANCHES = 50;

/**
 * The result is kept in the journal, which is one item of 400 KB. Lists that could fill it are cut, and
 * marked as cut.
 */
const MAX_MESSAGES = 2000;
const MAX_WARNINGS = 200;
const MAX_CONFLICTS = 200;

const cut = (items: readonly string[], max: number, more: (left: number) => string): [string[], string[]] =>
  items.length <= max ? [[...items], []] : [items.slice(0, max), [more(items.length - max)]];

/** Single files that could not be read. They are left in place, and are not in the undo checkpoint. */
const notUndoable = (undo: Checkpoint): string[] =>
  undo.failures.map(({ path, reason }) => `${path}: not in the undo checkpoint: ${reason}`);

export const rollbackResult = (from: {
  status: RollbackAnswer['status'];
  journal: Pick<RollbackJournal, 'epoch' | 'by'>;
  target: Checkpoint;
  /** In a plan, the checkpoint that the sandbox stands on, because a plan captures nothing to undo to. */
  undo: Checkpoint;
  tree: readonly TreeNode[];
  report: RestoreReport;
  warnings: string[];
  /** Of a target that this request composed. */
  composed?: ComposedFacts | undefined;
  lateWrites?: LateWrites | undefined;
}): RollbackAnswer => {
  const { status, target, undo } = from;
  const isPlan = status === 'PLANNED';
  const { conflicts = [] } = from.composed ?? {};
  const [discardedMessageIds, unlisted] = cut(
    discardedBetween(from.tree, undo.seq, target.seq),
    MAX_MESSAGES,
    (left) => `${left} more messages are discarded: all after trimAfterMessageId`,
  );
  const [warnings, more] = cut(
    [...(from.composed?.warnings ?? []), ...from.warnings, ...(isPlan ? [] : notUndoable(undo))],
    MAX_WARNINGS,
    (left) => `${left} more warnings`,
  );
  return {
    status,
    checkpointId: target.checkpointId,
    epoch: from.journal.epoch,
    undoCheckpointId: isPlan ? null : undo.checkpointId,
    repositories: from.report.repositories.map(({ path, written, deleted, action, host, paths }) => ({
      path,
      written,
      deleted,
      action,
      ...(host && { host: { ...host, branches: host.branches.slice(0, MAX_BRANCHES) } }),
      ...(isPlan && { paths: paths.slice(0, MAX_PATHS) }),
    })),
    discardedMessageIds,
    trimAfterMessageId: target.messageId,
    warnings: [...warnings, ...more, ...unlisted],
    ...(conflicts.length > 0 && { conflicts: conflicts.slice(0, MAX_CONFLICTS) }),
    ...(from.lateWrites && { lateWrites: from.lateWrites }),
    ...(from.journal.by && { by: from.journal.by }),
  };
};
