/** Decides which sagas of a session came after a checkpoint. Pure. */
import type { Checkpoint } from '../model.ts';
import type { PlacedSaga } from '../ports/effects.ts';
import type { TreeNode } from '../ports/stores.ts';
import { messagesOn } from './tree.ts';

/**
 * A saga belongs to its message: it came after the target when the target does not hold that message's work.
 * When the session does not know the message, or the saga has none, the time of its start decides.
 */
export const isAfterTarget = (
  tree: readonly TreeNode[],
  target: Pick<Checkpoint, 'seq' | 'createdAt'>,
): ((saga: PlacedSaga) => boolean) => {
  const kept = new Set(messagesOn(tree, target.seq));
  const known = new Set(tree.map(({ messageId }) => messageId));
  return ({ messageId, createdAt }) =>
    messageId !== null && known.has(messageId) ? !kept.has(messageId) : createdAt > target.createdAt;
};
