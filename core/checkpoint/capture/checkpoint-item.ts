/** Builds the item of one checkpoint. Pure: the same input gives the same item. */
import type { SettledRollback } from '../../../contract/answer-fields.ts';
import type { AskedBy } from '../../../contract/identity.ts';
import { checkpointId } from '../../shared/ids.ts';
import type { Clock } from '../../shared/surroundings.ts';
import type { Checkpoint, CheckpointRef, ComposedFacts, Session } from '../model.ts';
import { expiryOf } from '../session/retention.ts';
import { compared } from '../timeline/repository-change.ts';
import type { Captured } from './capture-report.ts';

export const createCheckpoint = (
  from: {
    /** The session before this checkpoint. */
    session: Session;
    captured: Captured;
    parentSeq: number | null;
    /** The parent itself. Undefined for a baseline, and where retention removed it. */
    parent: Pick<Checkpoint, 'repositories'> | undefined;
    messageId: string | null;
    messageOrder: number | null;
    forMessageId?: string | undefined;
    unowned?: boolean | undefined;
    toolExecutionId: string;
    reason: string;
    sandboxId: string;
    detached: boolean;
    settledRollback?: SettledRollback;
    lateFiles?: string[];
    lateFilesNotListed?: number | undefined;
    mergedFrom?: CheckpointRef | undefined;
    takesBack?: number[] | undefined;
    forkedFrom?: CheckpointRef | undefined;
    composed?: ComposedFacts;
    halfWritten?: boolean | undefined;
    by?: AskedBy | undefined;
  },
  clock: Clock,
): Checkpoint => {
  const { session, captured } = from;
  const seq = session.seq + 1;
  return {
    sessionId: session.sessionId,
    checkpointId: checkpointId(session.sessionId, seq, from.toolExecutionId),
    seq,
    parentSeq: from.parentSeq,
    epoch: session.epoch,
    messageId: from.messageId,
    messageOrder: from.messageOrder,
    ...(from.forMessageId !== undefined && { forMessageId: from.forMessageId }),
    ...(from.unowned === true && { unowned: true as const }),
    toolExecutionId: from.toolExecutionId,
    reason: from.reason,
    complete: captured.complete,
    repositories: compared(captured.repositories, from.parentSeq === null ? null : from.parent?.repositories),
    failures: captured.failures,
    skipped: captured.skipped,
    sandboxId: from.sandboxId,
    detached: from.detached,
    settledRollback: from.settledRollback,
    lateFiles: from.lateFiles,
    lateFilesNotListed: from.lateFilesNotListed,
    content: captured.content,
    mergedFrom: from.mergedFrom,
    takesBack: from.takesBack,
    forkedFrom: from.forkedFrom,
    composed: from.composed,
    ...(from.halfWritten === true && { halfWritten: true as const }),
    by: from.by,
    createdAt: clock.now().toISOString(),
    expiresAt: expiryOf(session, clock),
  };
};
