/** Decides which steps of a timeline a revert takes back. Pure. */
import type { TreeNode } from '../ports/stores.ts';
import { pathTo } from '../timeline/tree.ts';

/** What changed between two checkpoints. `afterSeq` null: up to what is there now. */
export interface Change {
  beforeSeq: number;
  afterSeq: number | null;
}

type Node = Pick<TreeNode, 'seq' | 'parentSeq' | 'messageId' | 'unowned' | 'checkpointId'>;

const nodesTo = (nodes: readonly Node[], headSeq: number): Node[] => {
  const bySeq = new Map(nodes.map((node) => [node.seq, node]));
  return pathTo(nodes, headSeq).flatMap((seq) => bySeq.get(seq) ?? []);
};

/**
 * The work of one message on the path to the head, newest first. Undefined: a step begins at a checkpoint
 * that is gone.
 *
 * `sinceHead`: the message whose work was done since the head. It differs from the head's message when the
 * turn after the head was cut. Null: that work belongs to no message.
 */
export const changesOfMessage = (
  nodes: readonly Node[],
  headSeq: number,
  messageId: string,
  sinceHead: string | null,
): Change[] | undefined => {
  const path = nodesTo(nodes, headSeq);
  const changes: Change[] = [];
  let open: Change | undefined;
  for (const [index, node] of path.entries()) {
    const before = path[index - 1];
    if (node.messageId !== messageId || node.unowned === true) {
      open = undefined;
      continue;
    }
    if (open === undefined) {
      if (before === undefined) return undefined;
      open = { beforeSeq: before.seq, afterSeq: node.seq };
      changes.unshift(open);
    }
    open.afterSeq = node.seq;
  }
  if (sinceHead !== messageId) return changes;
  if (open === undefined) changes.unshift({ beforeSeq: headSeq, afterSeq: null });
  else open.afterSeq = null;
  return changes;
};

/**
 * What each of these checkpoints changed since the one before it, newest first; and the ids that are not on
 * the path.
 */
export const changesOfCheckpoints = (
  nodes: readonly Node[],
  headSeq: number,
  checkpointIds: readonly string[],
): { changes: Change[]; unknown: string[] } => {
  const path = nodesTo(nodes, headSeq);
  const wanted = new Set(checkpointIds);
  const changes: Change[] = [];
  for (const [index, node] of path.entries()) {
    const before = path[index - 1];
    if (!wanted.has(node.checkpointId) || before === undefined) continue;
    wanted.delete(node.checkpointId);
    changes.unshift({ beforeSeq: before.seq, afterSeq: node.seq });
  }
  return { changes, unknown: [...wanted] };
};

/** Everything since the oldest checkpoint that is kept. */
export const changesOfSession = (nodes: readonly Node[], headSeq: number): Change[] =>
  nodesTo(nodes, headSeq)
    .slice(0, 1)
    .map(({ seq }) => ({ beforeSeq: seq, afterSeq: null }));
