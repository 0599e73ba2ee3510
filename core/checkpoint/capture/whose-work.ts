/** Whose work is in the repositories, where nobody says it. Pure. */
import { RESERVED_ID_PREFIX } from '../../../contract/ids.ts';
import type { Checkpoint, Composition, Session } from '../model.ts';

/** Reasons of checkpoints that were made from other work, by what made them. */
export const COMPOSED_REASON: Readonly<Record<Composition['kind'], string>> = {
  paths: 'partial-rollback',
  revert: 'revert',
  merge: 'merge',
};

/** Reasons are free text, so a caller's may be called so, too. */
export const COMPOSED_REASONS: ReadonlySet<string> = new Set(Object.values(COMPOSED_REASON));

type Head = Pick<
  Checkpoint,
  'seq' | 'messageId' | 'forMessageId' | 'epoch' | 'sandboxId' | 'reason' | 'toolExecutionId' | 'unowned'
>;

/** Only ids of ours begin so. Releases before this one did not mark what they composed. */
const isComposed = ({ reason, toolExecutionId }: Head): boolean =>
  COMPOSED_REASONS.has(reason) && toolExecutionId.startsWith(RESERVED_ID_PREFIX);

export interface Whose {
  /** The message that it is filed under: the last one whose work is there. Null: no message is known yet. */
  messageId: string | null;
  /** It is that of no message: it was done after a merge, a revert or a rollback of some paths, and before the next tool. */
  unowned: boolean;
}

/**
 * Whose the work is that was done since a session stands on `head`: of the message whose operation that checkpoint was taken
 * for. `epoch`: the one in which that work was done. A head of another epoch was gone back to, and what came after it at its time
 * is not there; but not the newest checkpoint, because going back takes another, and a resume another sandbox: a rewind raises
 * the epoch before it touches any file.
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
  return { messageId: head.messageId, unowned: head.unowned === true || isComposed(head) };
};

/** What a caller says of it, if anything. */
interface Told {
  messageId?: string | undefined;
  forMessageId?: string | undefined;
  toolExecutionId: string;
}

/**
 * What a checkpoint is filed under, when this was done `since` the one before. What was there before the first operation of the
 * first message is filed under that one, because nothing else is known, and is not its work. Who names no message has one, for all that there is.
 */
export const filedUnder = (
  { messageId, forMessageId, toolExecutionId }: Told,
  since: Whose,
): Whose & { messageId: string } => {
  if (messageId !== undefined) return { messageId, unowned: false };
  if (since.messageId !== null) return { ...since, messageId: since.messageId };
  return { messageId: forMessageId ?? toolExecutionId, unowned: since.unowned || forMessageId !== undefined };
};
