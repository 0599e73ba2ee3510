/**
 * Everything that a checkpoint came from, as a graph: its parents, for the first checkpoint of a fork the one that
 * it began at, and for a merge also the checkpoint that it took. What a rollback left behind is not in it. Pure.
 */
import { isReal, nodeAt, refName, type Stop, type Timelines } from '../bisect/line.ts';
import type { CheckpointRef } from '../model.ts';
import type { TreeNode } from '../ports/stores.ts';

export interface Ancestor {
  name: string;
  stop: Stop;
  /** Names of those that it came from and that are known, the first parent first. */
  origins: string[];
  /** Nothing before it is known: the session began there, or retention removed what was before. */
  begins?: 'session' | 'kept';
}

interface Origins {
  parent: CheckpointRef | undefined;
  merged: CheckpointRef | undefined;
}

const originsOf = (timelines: Timelines, sessionId: string, node: TreeNode): Origins => {
  const real = (ref: CheckpointRef | undefined): CheckpointRef | undefined =>
    ref !== undefined && isReal(timelines, ref, node) ? ref : undefined;
  return {
    parent: node.parentSeq === null ? real(node.forkedFrom) : { sessionId, seq: node.parentSeq },
    merged: real(node.mergedFrom),
  };
};

/**
 * Each comes after its origins, so `end` is the last. `unread`: a session whose timeline is needed to know more.
 */
export const ancestryOf = (
  timelines: Timelines,
  end: CheckpointRef,
): { ancestors: Ancestor[]; unread?: string } => {
  const ancestors = new Map<string, Ancestor>();
  const entered = new Set<string>();
  const open: { ref: CheckpointRef; isLeft: boolean }[] = [{ ref: end, isLeft: false }];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const { ref, isLeft } = at;
    const { sessionId } = ref;
    const name = refName(ref);
    if (!timelines.has(sessionId)) return { ancestors: [], unread: sessionId };
    const node = nodeAt(timelines, ref);
    if (node === undefined || (!isLeft && entered.has(name))) continue;
    const { parent, merged } = originsOf(timelines, sessionId, node);
    const all = [parent, merged].filter((one) => one !== undefined);
    if (!isLeft) {
      entered.add(name);
      open.push({ ref, isLeft: true });
      for (const one of all) {
        if (!entered.has(refName(one))) open.push({ ref: one, isLeft: false });
      }
      continue;
    }
    // In a circle, which only a damaged table could hold, one of the origins is not there yet.
    const origins = all.map(refName).filter((one) => ancestors.has(one));
    const hasParent = parent !== undefined && ancestors.has(refName(parent));
    const isStart = node.parentSeq === null && node.forkedFrom === undefined;
    ancestors.set(name, {
      name,
      stop: { ...node, sessionId },
      origins,
      ...(!hasParent && { begins: isStart ? 'session' : 'kept' }),
    });
  }
  return { ancestors: [...ancestors.values()] };
};
