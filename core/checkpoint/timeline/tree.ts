/** The timeline as a tree: pure functions over the nodes from `SessionStore.listTree`. */
import type { TreeNode } from '../ports/stores.ts';

type Bone = Pick<TreeNode, 'seq' | 'parentSeq'>;
type Placed = Pick<TreeNode, 'seq' | 'parentSeq' | 'messageId' | 'messageOrder'>;

/**
 * Sequence numbers from the oldest known ancestor to `seq`. The path ends at a parent that retention
 * removed. It also ends at a cycle, which only a damaged table could hold.
 */
export const pathTo = (nodes: readonly Bone[], seq: number): number[] => {
  const parents = new Map(nodes.map((node) => [node.seq, node.parentSeq]));
  const path: number[] = [];
  const seen = new Set<number>();
  let at: number | null = seq;
  while (at !== null && parents.has(at) && !seen.has(at)) {
    seen.add(at);
    path.push(at);
    at = parents.get(at) ?? null;
  }
  return path.toReversed();
};

/** Messages with work on the path to `seq`, in the order in which the session first saw them. */
export const messagesOn = (nodes: readonly Placed[], seq: number): string[] => {
  const onPath = new Set(pathTo(nodes, seq));
  const orders = new Map<string, number>();
  for (const node of nodes) {
    if (node.messageId !== null && onPath.has(node.seq)) {
      orders.set(node.messageId, node.messageOrder ?? Number.MAX_SAFE_INTEGER);
    }
  }
  return [...orders].toSorted(([, a], [, b]) => a - b).map(([messageId]) => messageId);
};

/**
 * Messages whose work is on the path to `from` but not on the path to `to`. Moving the head leaves these
 * behind.
 */
export const discardedBetween = (nodes: readonly Placed[], from: number, to: number): string[] => {
  const kept = new Set(messagesOn(nodes, to));
  return messagesOn(nodes, from).filter((messageId) => !kept.has(messageId));
};

/** The newest checkpoint on the path to `seq` that is complete and not half written, to suggest to a caller. */
export const newestRestorable = (nodes: readonly TreeNode[], seq: number): TreeNode | undefined => {
  const bySeq = new Map(nodes.map((node) => [node.seq, node]));
  return pathTo(nodes, seq)
    .toReversed()
    .map((at) => bySeq.get(at))
    .find((node) => node?.complete === true && node.halfWritten !== true);
};

const commonStart = (a: string, b: string): number => {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
};

/**
 * Up to five known ids that look most like `wanted`, the newest first among equals. `known` is oldest
 * first.
 */
export const nearestIds = (known: readonly string[], wanted: string): string[] =>
  known
    .map((id, index) => ({ id, index, likeness: commonStart(id, wanted) }))
    .toSorted((a, b) => b.likeness - a.likeness || b.index - a.index)
    .slice(0, 5)
    .map(({ id }) => id);
