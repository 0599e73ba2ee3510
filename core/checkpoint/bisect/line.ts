/**
 * The line of checkpoints that a search goes along: from a checkpoint back to where everything began, through
 * forks; a fork goes on where its source stood. What a merge brought is a line of its own, which the search
 * enters when the merge turns out to be the first bad checkpoint. Pure.
 */
import { sha256Hex } from '../../shared/ids.ts';
import { isYounger } from '../merge/merge-base.ts';
import type { Checkpoint, CheckpointRef, RepositoryState } from '../model.ts';
import type { TreeNode } from '../ports/stores.ts';

/** By session, then by sequence number. */
export type Timelines = ReadonlyMap<string, ReadonlyMap<number, TreeNode>>;

/** A checkpoint of the line, as the tree has it. */
export interface Stop extends TreeNode {
  sessionId: string;
}

export const refName = ({ sessionId, seq }: CheckpointRef): string => `${sessionId} ${seq}`;

export const nodeAt = (timelines: Timelines, { sessionId, seq }: CheckpointRef): TreeNode | undefined =>
  timelines.get(sessionId)?.get(seq);

/** Whether the origin of a checkpoint is the one that is meant, and no later use of its session's id. */
export const isReal = (timelines: Timelines, origin: CheckpointRef, node: TreeNode): boolean => {
  const found = nodeAt(timelines, origin);
  return found === undefined || !isYounger(found, node);
};

/** Oldest first. `unread`: the session whose timeline is needed to go further back. */
export const lineTo = (timelines: Timelines, end: CheckpointRef): { stops: Stop[]; unread?: string } => {
  const stops: Stop[] = [];
  const seen = new Set<string>();
  let at: CheckpointRef | undefined = end;
  while (at !== undefined && !seen.has(refName(at))) {
    seen.add(refName(at));
    const { sessionId }: CheckpointRef = at;
    if (!timelines.has(sessionId)) return { stops: stops.toReversed(), unread: sessionId };
    const node = nodeAt(timelines, at);
    if (node === undefined) break;
    stops.push({ sessionId, ...node });
    const { parentSeq, forkedFrom } = node;
    if (parentSeq !== null) at = { sessionId, seq: parentSeq };
    else at = forkedFrom !== undefined && isReal(timelines, forkedFrom, node) ? forkedFrom : undefined;
  }
  return { stops: stops.toReversed() };
};

/** Everything that the state of a checkpoint came from, itself included, as far as the timelines are there. */
const cameFrom = (timelines: Timelines, of: CheckpointRef): Set<string> => {
  const seen = new Set<string>();
  const open = [of];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const node = nodeAt(timelines, at);
    if (node === undefined || seen.has(refName(at))) continue;
    seen.add(refName(at));
    const { sessionId } = at;
    if (node.parentSeq !== null) open.push({ sessionId, seq: node.parentSeq });
    for (const origin of [node.forkedFrom, node.mergedFrom]) {
      if (origin !== undefined && isReal(timelines, origin, node)) open.push(origin);
    }
  }
  return seen;
};

/**
 * What a merge brought: the line to the checkpoint that it took, from the last one that `before` came from too.
 * Undefined where they have nothing in common any more.
 */
export const broughtBy = (
  timelines: Timelines,
  before: CheckpointRef,
  stops: readonly Stop[],
): Stop[] | undefined => {
  const known = cameFrom(timelines, before);
  const base = stops.findLastIndex((stop) => known.has(refName(stop)));
  return base < 0 || base === stops.length - 1 ? undefined : stops.slice(base);
};

/** Equal for checkpoints of which a copy has the same: all repositories, their files and the rest of their git. */
const stateOf = (repositories: readonly RepositoryState[]): string => {
  const there = repositories
    .filter(({ state, commit }) => state !== 'absent' && commit !== undefined)
    .map(({ path, state, tree, meta }) => [path, state, tree, meta])
    .toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1));
  return sha256Hex(JSON.stringify(there));
};

/** A stop with what a probe depends on. */
export interface Point extends Stop {
  state: string;
  /** Why no copy of it can tell anything. */
  unfit?: string;
}

export const pointAt = (
  stop: Stop,
  checkpoint: Pick<Checkpoint, 'repositories' | 'complete'>,
  { repository, allowPartial }: { repository?: string | undefined; allowPartial?: boolean | undefined },
): Point => {
  const { repositories, complete } = checkpoint;
  const isThere =
    repository === undefined ||
    repositories.some(({ path, state }) => state === 'captured' && path === repository);
  const unfit = !isThere
    ? 'the repository is not there'
    : complete || allowPartial === true
      ? undefined
      : 'the checkpoint is not complete';
  return { ...stop, state: stateOf(repositories), ...(unfit !== undefined && { unfit }) };
};

/** Only the points at which something changed: what is equal to the point before would be probed twice. */
export const changingPoints = (points: readonly Point[]): Point[] =>
  points.filter((point, at) => at === 0 || point.state !== points[at - 1]?.state);
