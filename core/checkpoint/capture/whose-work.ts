/** Whose work is in the repositories, where nobody says it. Pure. */
import type { Checkpoint } from '../model.ts';

/**
 * The last message whose work is there, of a session that stands on `head`: what came after a checkpoint is the work of the
 * message whose operation it was taken for. `epoch`: the one in which that work was done. A head of another epoch was gone back
 * to, and what came after it at its time is not there. Null: no message is known yet.
 */
export const messageAt = (
  head: Pick<Checkpoint, 'messageId' | 'forMessageId' | 'epoch'> | undefined,
  epoch: number,
): string | null => {
  if (head === undefined) return null;
  return (head.epoch === epoch ? head.forMessageId : undefined) ?? head.messageId;
};
