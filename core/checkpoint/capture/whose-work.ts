/** Whose work is in the repositories, where nobody says it. Pure. */
import type { Checkpoint, Session } from '../model.ts';

type Head = Pick<Checkpoint, 'seq' | 'messageId' | 'forMessageId' | 'epoch' | 'sandboxId'>;

/**
 * The last message whose work is there, of a session that stands on `head`: what came after a checkpoint is the work of the
 * message whose operation it was taken for. `epoch`: the one in which that work was done. A head of another epoch was gone back
 * to, and what came after it at its time is not there; but not the newest checkpoint, because going back takes another, and a
 * resume another sandbox: a rewind raises the epoch before it touches any file. Null: no message is known yet.
 */
export const messageAt = (
  head: Head | undefined,
  session: Pick<Session, 'seq' | 'sandboxId' | 'epoch'>,
  epoch = session.epoch,
): string | null => {
  if (head === undefined) return null;
  const isNewest = head.seq === session.seq && head.sandboxId === session.sandboxId;
  return (isNewest || head.epoch === epoch ? head.forMessageId : undefined) ?? head.messageId;
};
