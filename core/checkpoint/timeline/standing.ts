/** Tells where the checkpoints and messages of a session stand: on the path to its head, or left behind. */
import type { Clock } from '../../shared/surroundings.ts';
import type { Message, Session } from '../model.ts';
import type { TreeNode } from '../ports/stores.ts';
import { keepsAllUntilMs } from '../session/retention.ts';
import { messagesOn, pathTo } from './tree.ts';

export interface Standing {
  isOnPath(seq: number): boolean;
  isPresent(messageId: string): boolean;
  /** Undefined where retention removed the checkpoint. */
  idOf(seq: number): string | undefined;
  /** Whether there is an older checkpoint. */
  hasBefore(seq: number): boolean;
}

export const standingInTree = (tree: readonly TreeNode[], { headSeq }: Session): Standing => {
  const ids = new Map(tree.map((node) => [node.seq, node.checkpointId]));
  const path = new Set(pathTo(tree, headSeq));
  const present = new Set(messagesOn(tree, headSeq));
  return {
    isOnPath: (seq) => path.has(seq),
    isPresent: (messageId) => present.has(messageId),
    idOf: (seq) => ids.get(seq),
    hasBefore: (seq) => tree.some((node) => node.seq < seq),
  };
};

/**
 * The same, but from the items of session and messages alone, so that a page of a long timeline does not read
 * all of it. Undefined where these do not tell: after a rollback or a checkpoint beside the head, or when
 * retention may have removed some checkpoints.
 */
export const standingOnLine = (
  session: Session,
  messages: readonly Message[],
  clock: Clock,
): Standing | undefined => {
  if (session.isLine !== true || clock.now().getTime() >= keepsAllUntilMs(session)) return undefined;
  const ids = new Map(messages.map(({ lastSeq, lastId }) => [lastSeq, lastId]));
  return {
    isOnPath: () => true,
    isPresent: () => true,
    idOf: (seq) => ids.get(seq),
    hasBefore: (seq) => seq > 1,
  };
};
