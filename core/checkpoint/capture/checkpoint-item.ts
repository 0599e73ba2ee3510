/** Builds the items of one checkpoint. Pure: the same input gives the same items. */
import type { LineCount, SettledRollback } from '../../../contract/answer-fields.ts';
import type { AskedBy } from '../../../contract/identity.ts';
import { checkpointId } from '../../shared/ids.ts';
import type { Clock } from '../../shared/surroundings.ts';
import type {
  Checkpoint,
  CheckpointRef,
  ComposedFacts,
  Message,
  RepositoryState,
  SaidMessage,
  Session,
} from '../model.ts';
import { expiryOf } from '../session/retention.ts';
import type { Captured } from './capture-report.ts';
import { compared } from './repository-change.ts';

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

/** Those that are there, also ones that could not be captured. */
export const countPresent = (states: readonly RepositoryState[]): number =>
  states.filter(({ state }) => state !== 'absent').length;

/** A message after one of its checkpoints was taken. */
export const moveMessage = (
  session: Session,
  known: Message | undefined,
  messageId: string,
  { seq, id }: { seq: number; id: string },
  said?: SaidMessage,
): Message => ({
  ...(known ?? { messageId, order: session.messageCount + 1, firstSeq: seq }),
  lastSeq: seq,
  lastId: id,
  ...(said && { role: said.role }),
  ...(said?.title !== undefined && { title: said.title }),
  ...(said?.text !== undefined && { textSeq: seq }),
});

/**
 * The lines that a checkpoint changed since its parent, in all repositories. Files whose lines were not
 * counted are left out.
 */
export const linesOf = ({ content }: Pick<Checkpoint, 'content'>): LineCount => {
  const sum = { added: 0, deleted: 0 };
  for (const { added, deleted } of content?.changes ?? []) {
    sum.added += added ?? 0;
    sum.deleted += deleted ?? 0;
  }
  return sum;
};

/** The session's line count with those of one more checkpoint. */
export const linesWith = ({ lines }: Session, checkpoint: Checkpoint): LineCount => {
  const { added, deleted } = linesOf(checkpoint);
  return { added: lines.added + added, deleted: lines.deleted + deleted };
};

/** A session after one more write. Version, time and expiry always change together. */
export const touch = (session: Session, change: Partial<Session>, clock: Clock): Session => {
  const { isLine, ...moved } = { ...session, ...change };
  return {
    ...moved,
    // A timeline that a rollback or a checkpoint beside the head has left is never a line again.
    ...(isLine && moved.headSeq === moved.seq && { isLine }),
    version: session.version + 1,
    updatedAt: clock.now().toISOString(),
    expiresAt: Math.max(session.expiresAt, expiryOf(session, clock)),
  };
};
