/**
 * Finds the last checkpoint that two sessions have in common. It is derived from their timelines and never
 * stored. So a merge that was rolled back or reverted no longer counts, and a fork that was merged continues
 * from its own head. Pure.
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

/** The clocks of functions may differ, but not by this much. */
const CLOCKS_MS = HOUR_MS;

/**
 * Whether what is taken for the origin of a checkpoint is younger than that: the session was gone then, and its id
 * was used again.
 */
export const isYounger = (origin: { createdAt: string }, { createdAt }: { createdAt: string }): boolean =>
  Date.parse(origin.createdAt) > Date.parse(createdAt) + CLOCKS_MS;

/** The checkpoints that one checkpoint's state came from. */
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

/** The origins of each checkpoint. */
const index = (timelines: Timelines): Parents => {
  const parents = new Map<string, Origin>();
  const born = new Map(
    [...timelines].flatMap(([sessionId, nodes]) =>
      nodes.map((node) => [nameOf({ sessionId, seq: node.seq }), node] as const),
    ),
  );
  const known = (ref: CheckpointRef | undefined, node: { createdAt: string }): CheckpointRef[] => {
    const origin = ref && born.get(nameOf(ref));
    return ref === undefined || (origin !== undefined && isYounger(origin, node)) ? [] : [ref];
  };
  for (const [sessionId, nodes] of timelines) {
    for (const node of nodes) {
      const { seq, parentSeq, mergedFrom, takesBack = [], forkedFrom } = node;
      parents.set(nameOf({ sessionId, seq }), {
        parent: parentSeq === null ? [] : [{ sessionId, seq: parentSeq }],
        merged: known(mergedFrom, node),
        forked: known(forkedFrom, node),
        takesBack,
      });
    }
  }
  return parents;
};

/**
 * These checkpoints and everything that they came from, as far as it is kept. Each comes before its own
 * origins.
 */
const everythingBehind = (parents: Parents, of: readonly CheckpointRef[]): Map<string, CheckpointRef> => {
  const seen = new Set<string>();
  const left: CheckpointRef[] = [];
  const open = of.map((ref) => ({ ref, isLeft: false }));
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const { ref, isLeft } = at;
    const name = nameOf(ref);
    if (isLeft) left.push(ref);
    if (isLeft || seen.has(name) || !parents.has(name)) continue;
    seen.add(name);
    open.push({ ref, isLeft: true });
    for (const origin of originsOf(parents, ref)) open.push({ ref: origin, isLeft: false });
  }
  return new Map(left.toReversed().map((ref) => [nameOf(ref), ref]));
};

/**
 * A checkpoint and everything that its state came from, as far as it is kept. A merge does not count when a
 * revert of it is among them too, however that came, unless that revert was reverted in turn. `off`: what the
 * standing reverts took back.
 */
const walkBack = (
  parents: Parents,
  of: CheckpointRef,
): { found: Map<string, CheckpointRef>; off: ReadonlySet<string> } => {
  const found = new Map<string, CheckpointRef>();
  const reached = new Set([nameOf(of)]);
  const off = new Set<string>();
  for (const [name, ref] of everythingBehind(parents, [of])) {
    const origin = parents.get(name);
    if (origin === undefined || !reached.has(name)) continue;
    found.set(name, ref);
    const isOff = off.has(name);
    for (const seq of isOff ? [] : origin.takesBack) off.add(nameOf({ ...ref, seq }));
    for (const one of [...origin.parent, ...origin.forked, ...(isOff ? [] : origin.merged)]) {
      reached.add(nameOf(one));
    }
  }
  return { found, off };
};

const ancestors = (parents: Parents, of: CheckpointRef): Map<string, CheckpointRef> =>
  walkBack(parents, of).found;

/** The ancestors of each of the two, itself included: those of `into` by name, those of `from` as a list. */
const histories = (timelines: Timelines, into: CheckpointRef, from: CheckpointRef) => {
  const parents = index(timelines);
  return {
    parents,
    ours: ancestors(parents, into),
    theirs: [...ancestors(parents, from).values()],
  };
};

/** The checkpoints that both have, and the nearest of these: those that no other common checkpoint came from. */
const inCommon = (
  parents: Parents,
  ours: ReadonlyMap<string, CheckpointRef>,
  theirs: readonly CheckpointRef[],
) => {
  const common = theirs.filter((ref) => ours.has(nameOf(ref)));
  const passed = everythingBehind(
    parents,
    common.flatMap((ref) => originsOf(parents, ref)),
  );
  return { common, nearest: common.filter((ref) => !passed.has(nameOf(ref))) };
};

/**
 * The nearest common checkpoints; none of them came from another. Those of `into` come first, then the
 * highest number. Empty: the two have nothing in common. `timelines`: all that `unreadTimelines` asks for.
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
 * Sessions whose timelines may hold a nearer base. A checkpoint that, as far as is known, only one side has
 * may have come from them by a merge or a fork. The origins of a common checkpoint are asked for only when
 * there are several nearest ones, because one of these may have come from another.
 */
export const unreadTimelines = (timelines: Timelines, into: CheckpointRef, from: CheckpointRef): string[] => {
  const { parents, ours, theirs } = histories(timelines, into, from);
  const { common, nearest } = inCommon(parents, ours, theirs);
  const shared = new Set(common.map(nameOf));
  const open = [...ours.values(), ...theirs].filter((ref) => nearest.length > 1 || !shared.has(nameOf(ref)));
  const named = open.flatMap((ref) => originsOf(parents, ref)).map(({ sessionId }) => sessionId);
  return [...new Set(named)].filter((sessionId) => !timelines.has(sessionId));
};

/**
 * The newest checkpoint of `into` that `from` was made from but `into` no longer stands on: it was rolled
 * back. Undefined when there is none.
 */
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

/** Whether `from` is the first checkpoint of a fork, and a copy of `base`. */
export const isUnchangedFork = (timelines: Timelines, from: CheckpointRef, base: CheckpointRef): boolean => {
  const node = timelines.get(from.sessionId)?.find(({ seq }) => seq === from.seq);
  return node?.forkedFrom !== undefined && nameOf(node.forkedFrom) === nameOf(base);
};

/**
 * Merges of what `from` has that a revert of `into` took back and nothing brought again: a merge after them stands, so the next one
 * brings none of that work.
 */
export const takenBack = (
  timelines: Timelines,
  into: CheckpointRef,
  from: CheckpointRef,
): { merge: CheckpointRef; revert: CheckpointRef }[] => {
  const parents = index(timelines);
  const { found, off } = walkBack(parents, into);
  const standing = [...found].flatMap(([name, ref]) => {
    const origin = off.has(name) ? undefined : parents.get(name);
    return origin === undefined ? [] : [{ ref, origin }];
  });
  const theirs = everythingBehind(parents, [from]);
  const cameAgain = (name: string, revert: CheckpointRef): boolean =>
    standing.some(
      ({ ref, origin: { parent, merged } }) =>
        everythingBehind(parents, [ref]).has(nameOf(revert)) &&
        everythingBehind(parents, merged).has(name) &&
        !parent.some((before) => ancestors(parents, before).has(name)),
    );
  return standing
    .filter(({ ref }) => ref.sessionId === into.sessionId)
    .flatMap(({ ref: revert, origin }) =>
      origin.takesBack.map((seq) => ({ merge: { ...revert, seq }, revert })),
    )
    .filter(({ merge, revert }) =>
      (parents.get(nameOf(merge))?.merged ?? [])
        .map(nameOf)
        .some((name) => theirs.has(name) && !cameAgain(name, revert)),
    );
};
