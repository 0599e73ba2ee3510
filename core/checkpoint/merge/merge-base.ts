/**
 * The last checkpoint that two sessions have in common. It is derived from their timelines and never
 * stored: a merge that was rolled back or taken back by a revert is not there any more, and a merged fork goes on from its own
 * head. Pure.
 */
import { HOUR_MS } from '../../../contract/times.ts';
import type { CheckpointRef } from '../model.ts';
import type { TreeNode } from '../ports/stores.ts';

export type Timelines = ReadonlyMap<
  string,
  readonly Pick<
    TreeNode,
    'seq' | 'checkpointId' | 'parentSeq' | 'mergedFrom' | 'takesBack' | 'forkedFrom' | 'createdAt'
  >[]
>;

const nameOf = ({ sessionId, seq }: CheckpointRef): string => `${seq} ${sessionId}`;

/** Clocks of functions differ, but not by so much. */
const CLOCKS_MS = HOUR_MS;

/** What the state of one came from. */
interface Origin {
  parent: CheckpointRef[];
  merged: CheckpointRef[];
  forked: CheckpointRef[];
  takesBack: readonly number[];
}

type Parents = ReadonlyMap<string, Origin>;

const originsOf = (parents: Parents, ref: CheckpointRef): CheckpointRef[] => {
  const { parent = [], merged = [], forked = [] } = parents.get(nameOf(ref)) ?? {};
  return [...parent, ...merged, ...forked];
};

/**
 * Which checkpoints each one's state came from. One that is younger than what came from it is another one: the session was
 * gone, and begun again under the same id.
 */
const index = (timelines: Timelines): Parents => {
  const parents = new Map<string, Origin>();
  const bornMs = new Map(
    [...timelines].flatMap(([sessionId, nodes]) =>
      nodes.map(({ seq, createdAt }) => [nameOf({ sessionId, seq }), Date.parse(createdAt)] as const),
    ),
  );
  const known = (ref: CheckpointRef | undefined, createdAt: string): CheckpointRef[] => {
    const bornAt = ref && bornMs.get(nameOf(ref));
    const isAnother = bornAt !== undefined && bornAt > Date.parse(createdAt) + CLOCKS_MS;
    return ref === undefined || isAnother ? [] : [ref];
  };
  for (const [sessionId, nodes] of timelines) {
    for (const { seq, parentSeq, mergedFrom, takesBack = [], forkedFrom, createdAt } of nodes) {
      parents.set(nameOf({ sessionId, seq }), {
        parent: parentSeq === null ? [] : [{ sessionId, seq: parentSeq }],
        merged: known(mergedFrom, createdAt),
        forked: known(forkedFrom, createdAt),
        takesBack,
      });
    }
  }
  return parents;
};

/** A checkpoint on the way back from another. `off`: those of the same session that were taken back in between. */
interface Stop {
  at: CheckpointRef;
  off: readonly number[];
}

const stopAt = (at: CheckpointRef): Stop => ({ at, off: [] });

/** What comes before it. Nothing came by a merge that was taken back, unless its revert was taken back in turn. */
const before = (parents: Parents, { at, off }: Stop): Stop[] => {
  const origin = parents.get(nameOf(at));
  if (origin === undefined) return [];
  const isOff = off.includes(at.seq);
  const added = isOff ? [] : origin.takesBack;
  const left =
    isOff || added.length > 0
      ? [...new Set([...off.filter((seq) => seq !== at.seq), ...added])].toSorted((a, b) => a - b)
      : off;
  return [
    ...origin.parent.map((ref) => ({ at: ref, off: left })),
    ...[...(isOff ? [] : origin.merged), ...origin.forked].map(stopAt),
  ];
};

/** These checkpoints and everything that their state came from, as far as it is still there. */
const ancestors = (parents: Parents, of: readonly Stop[]): Map<string, CheckpointRef> => {
  const found = new Map<string, CheckpointRef>();
  const seen = new Set<string>();
  const open = [...of];
  for (let stop = open.pop(); stop !== undefined; stop = open.pop()) {
    const name = nameOf(stop.at);
    const way = `${name} ${stop.off.join()}`;
    if (seen.has(way) || !parents.has(name)) continue;
    seen.add(way);
    found.set(name, stop.at);
    open.push(...before(parents, stop));
  }
  return found;
};

/** What each of the two was made from, itself included: one as a set of names, the other as a list. */
const histories = (timelines: Timelines, into: CheckpointRef, from: CheckpointRef) => {
  const parents = index(timelines);
  return {
    parents,
    ours: ancestors(parents, [stopAt(into)]),
    theirs: [...ancestors(parents, [stopAt(from)]).values()],
  };
};

/** Those that both have, and of these the nearest: no other one came from them. */
const inCommon = (
  parents: Parents,
  ours: ReadonlyMap<string, CheckpointRef>,
  theirs: readonly CheckpointRef[],
) => {
  const common = theirs.filter((ref) => ours.has(nameOf(ref)));
  const passed = ancestors(
    parents,
    common.flatMap((ref) => before(parents, stopAt(ref))),
  );
  return { common, nearest: common.filter((ref) => !passed.has(nameOf(ref))) };
};

/**
 * The nearest that both have, none behind another: those of `into` first, then the highest number. Empty:
 * they have nothing in common. `timelines`: all that `unreadTimelines` asks for.
 */
export const mergeBases = (
  timelines: Timelines,
  into: CheckpointRef,
  from: CheckpointRef,
): CheckpointRef[] => {
  const { parents, ours, theirs } = histories(timelines, into, from);
  const rank = ({ sessionId, seq }: CheckpointRef): number => (sessionId === into.sessionId ? 1e12 : 0) + seq;
  return inCommon(parents, ours, theirs).nearest.toSorted((a, b) => rank(b) - rank(a));
};

/**
 * Sessions whose timelines may have a nearer base: what one side has and the other does not, as far as is known,
 * came from them by a merge or a fork. What is behind a common checkpoint is only asked for where there are several,
 * one of which may be behind another.
 */
export const unreadTimelines = (timelines: Timelines, into: CheckpointRef, from: CheckpointRef): string[] => {
  const { parents, ours, theirs } = histories(timelines, into, from);
  const { common, nearest } = inCommon(parents, ours, theirs);
  const shared = new Set(common.map(nameOf));
  const open = [...ours.values(), ...theirs].filter((ref) => nearest.length > 1 || !shared.has(nameOf(ref)));
  const named = open.flatMap((ref) => originsOf(parents, ref)).map(({ sessionId }) => sessionId);
  return [...new Set(named)].filter((sessionId) => !timelines.has(sessionId));
};

/** A checkpoint of `into` that `from` was made from, and that is not on the way to where `into` stands: it was rolled back. */
export const leftBehind = (
  timelines: Timelines,
  into: CheckpointRef,
  from: CheckpointRef,
): CheckpointRef | undefined => {
  const { ours, theirs } = histories(timelines, into, from);
  return theirs
    .filter((ref) => ref.sessionId === into.sessionId && !ours.has(nameOf(ref)))
    .toSorted((a, b) => b.seq - a.seq)[0];
};

/** Whether a fork still is what it began as, and that is in `into`. */
export const isUnchangedFork = (timelines: Timelines, from: CheckpointRef, base: CheckpointRef): boolean => {
  const node = timelines.get(from.sessionId)?.find(({ seq }) => seq === from.seq);
  return node?.forkedFrom !== undefined && nameOf(node.forkedFrom) === nameOf(base);
};
