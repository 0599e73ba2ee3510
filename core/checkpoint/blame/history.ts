/**
 * The states that one repository went through on the way to a checkpoint, as the history that git blames in. What did
 * not change the repository is left out, and so is what the end does not stand on. Pure.
 */
import type { RepositoryState } from '../model.ts';
import type { BlameNode } from '../ports/blame.ts';

/** A state of the timeline, and what it came from, by name. Each comes after its origins. */
export interface Step {
  name: string;
  origins: readonly string[];
  /** Nothing before it is known. */
  begins?: 'session' | 'kept';
}

export interface HistoryNode extends BlameNode {
  /** The step that this state came with. */
  step: string;
  /** Absent where the step does not know the repository any more. */
  state?: RepositoryState;
  begins?: 'session' | 'kept';
  /** The repository was there before, and could not be captured. */
  isFirstCapture?: true;
}

/** Where no state of the repository is known to be: it was not there, or could not be captured. */
type NodeIndex = number | 'nothing' | 'unknown';

const ownCommit = ({ head, baseCommit }: RepositoryState): { commit?: string } => {
  const commit = head ?? baseCommit;
  return commit === undefined ? {} : { commit };
};

/** Only what the last node stands on, with new numbers. */
const reachable = (nodes: readonly HistoryNode[], end: number): HistoryNode[] => {
  const wanted = new Set<number>();
  const open = [end];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (wanted.has(at)) continue;
    wanted.add(at);
    open.push(...(nodes[at]?.parents ?? []));
  }
  const kept = [...wanted].toSorted((a, b) => a - b);
  const renumbered = new Map(kept.map((at, place) => [at, place]));
  return kept.flatMap((at) => {
    const node = nodes[at];
    return node === undefined
      ? []
      : [{ ...node, parents: node.parents.flatMap((one) => renumbered.get(one) ?? []) }];
  });
};

/**
 * `stateAt`: what a step holds of the repository; null: nothing, undefined: the step itself is gone. The last node
 * is that of the last step. Empty: the repository is not there.
 */
export const historyNodes = (
  steps: readonly Step[],
  stateAt: (step: string) => RepositoryState | null | undefined,
): HistoryNode[] => {
  const nodes: HistoryNode[] = [];
  const indexes = new Map<string, NodeIndex>();
  const add = (node: HistoryNode): number => nodes.push(node) - 1;
  const last = steps.findLast(({ name }) => stateAt(name)?.tree !== undefined);
  const treeLength = last && stateAt(last.name)?.tree?.length;

  const nodeIndexOf = ({ name, origins, begins }: Step): NodeIndex => {
    const before = origins.flatMap((one) => indexes.get(one) ?? []);
    const [first = 'nothing'] = before;
    const parents = [...new Set(before.filter((one) => typeof one === 'number'))];
    const state = stateAt(name);
    if (state === undefined) return before.length === 0 ? 'unknown' : first;
    if (state?.state === 'failed' && state.tree === undefined) return before.length === 0 ? 'unknown' : first;
    // A repository that was made again with ids of another kind has nothing of the one before.
    const isHere = state !== null && state.state !== 'absent' && state.tree?.length === treeLength;
    const [parent] = parents;
    const node = { tree: isHere ? (state.tree ?? null) : null, parents, step: name, ...(state && { state }) };
    if (parent !== undefined && nodes[parent]?.tree === node.tree) return parent;
    if (!isHere) return parent === undefined ? 'nothing' : add(node);
    const own = parent === undefined ? ownCommit(state) : {};
    if (begins !== undefined) return add({ ...node, begins, ...own });
    return parent === undefined && before.includes('unknown')
      ? add({ ...node, isFirstCapture: true, ...own })
      : add(node);
  };

  for (const step of steps) indexes.set(step.name, nodeIndexOf(step));
  const end = indexes.get(steps.at(-1)?.name ?? '');
  if (typeof end !== 'number' || nodes[end]?.tree === null) return [];
  return reachable(nodes, end);
};
