/** Finds which message the work in the repositories belongs to, where the caller does not say it. Pure. */
import type { Checkpoint, Composition, Session } from '../model.ts';

/** Reasons of composed checkpoints, by how they were composed. */
export const COMPOSED_REASON: Readonly<Record<Composition['kind'], string>> = {
  paths: 'partial-rollback',
  revert: 'revert',
  merge: 'merge',
};

/** Reasons are free text, so a caller may use these texts too. */
export const COMPOSED_REASONS: ReadonlySet<string> = new Set(Object.values(COMPOSED_REASON));

type Head = Pick<Checkpoint, 'seq' | 'messageId' | 'forMessageId' | 'epoch' | 'sandboxId' | 'unowned'>;

export interface Whose {
  /**
   * The message that the work is filed under: the last one whose work is there. Null: no message is known
   * yet.
   */
  messageId: string | null;
  /**
   * The work belongs to no message: it was done after a merge, a revert or a rollback of some paths, and
   * before the next tool.
   */
  unowned: boolean;
}

/**
 * Finds which message the work done since the checkpoint `head` belongs to: the one whose operation that
 * checkpoint was taken for. `epoch`: the epoch in which the work was done.
 *
 * A head of another epoch means that the session went back to it. The work that once followed it is not there
 * now, so its operation does not count. The newest checkpoint is an exception: going back always takes
 * another checkpoint, and a resume changes the sandbox. So it can have an older epoch only because a rewind
 * raised the epoch before it touched any file.
 */
export const workSince = (
  head: Head | undefined,
  session: Pick<Session, 'seq' | 'sandboxId' | 'epoch'>,
  epoch = session.epoch,
): Whose => {
  if (head === undefined) return { messageId: null, unowned: false };
  const isNewest = head.seq === session.seq && head.sandboxId === session.sandboxId;
  const forMessageId = isNewest || head.epoch === epoch ? head.forMessageId : undefined;
  if (forMessageId !== undefined) return { messageId: forMessageId, unowned: false };
  return { messageId: head.messageId, unowned: head.unowned === true };
};

type Node = Pick<Checkpoint, 'seq' | 'messageId' | 'epoch' | 'sandboxId' | 'reason'>;

/** What rollbacks, merges and other processes made is the work of no tool call. */
const NO_CALL: ReadonlySet<string> = new Set(['baseline', 'late-writes', ...COMPOSED_REASONS]);

/**
 * Whether `checkpoint` holds the work of the tool call that `before`, its parent, was taken for. A rollback
 * may have gone back to the parent long after that call.
 */
export const isWorkOfCallAfter = (
  before: Node & Pick<Checkpoint, 'forMessageId'>,
  checkpoint: Node,
): boolean =>
  !NO_CALL.has(checkpoint.reason) &&
  before.sandboxId === checkpoint.sandboxId &&
  (before.seq === checkpoint.seq - 1 || before.epoch === checkpoint.epoch) &&
  (before.forMessageId ?? checkpoint.messageId) === checkpoint.messageId;

/** What the caller says about the message, if anything. */
interface Told {
  messageId?: string | undefined;
  forMessageId?: string | undefined;
  toolExecutionId: string;
}

/**
 * What a checkpoint is filed under. `since`: whose work was done since the checkpoint before it.
 *
 * Work that was there before the first operation of the first message is filed under that message, because no
 * other is known, but it does not count as its work. A caller that never names a message gets one message for
 * everything.
 */
export const filedUnder = (
  { messageId, forMessageId, toolExecutionId }: Told,
  since: Whose,
): Whose & { messageId: string } => {
  if (messageId !== undefined) return { messageId, unowned: false };
  if (since.messageId !== null) return { ...since, messageId: since.messageId };
  return { messageId: forMessageId ?? toolExecutionId, unowned: since.unowned || forMessageId !== undefined };
};
