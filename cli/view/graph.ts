/** Lays out a tree of checkpoints in lanes, newest first, like `git log --graph`. Pure: no colours, no text. */

export interface GraphNode {
  seq: number;
  parentSeq: number | null;
}

export interface Cell {
  /** One or two characters wide. With the space after it, every lane takes two columns. */
  glyph: string;
  lane: number;
}

interface GraphRow {
  seq: number;
  /** Lines above the node, where branches that were left behind rejoin their parent. */
  above: Cell[][];
  /** The node's own line. Its cell has the glyph `NODE`. */
  node: Cell[];
  /** The line to repeat below the node, beside its details. */
  below: Cell[];
}

export interface Graph {
  rows: GraphRow[];
  /** Lanes whose parent was not among the nodes, so there is more below. Empty when the tree is complete. */
  open: Cell[];
  /** Widest line in columns. */
  width: number;
}

export const NODE = 'node';

/** What a lane waits for: the seq of its next node. `drawn` is false until something was drawn in the lane. */
interface Lane {
  waitsFor: number;
  drawn: boolean;
}

type Lanes = (Lane | undefined)[];

const cells = (lanes: Lanes, glyphOf: (lane: Lane | undefined, index: number) => string): Cell[] =>
  lanes.map((lane, index) => ({ lane: index, glyph: glyphOf(lane, index) }));

const passing = (lane: Lane | undefined): string => (lane?.drawn === true ? '│' : ' ');

/** `├─┴─╯`: the lanes `from` join the lane `into`, crossing the lanes between them. */
const joinLine = (lanes: Lanes, into: number, from: readonly number[]): Cell[] => {
  const last = from.at(-1) ?? into;
  return cells(lanes, (lane, index) => {
    if (index < into || index > last) return passing(lane);
    if (index === into) return lane?.drawn === true ? '├─' : '╭─';
    if (index === last) return '╯';
    if (from.includes(index)) return '┴─';
    return lane?.drawn === true ? '┼─' : '──';
  });
};

const freeLane = (lanes: Lanes): number => {
  const free = lanes.findIndex((lane) => lane === undefined);
  return free === -1 ? lanes.length : free;
};

const trim = (lanes: Lanes): Lanes => {
  const last = lanes.findLastIndex((lane) => lane !== undefined);
  return lanes.slice(0, last + 1);
};

const place = (lanes: Lanes, node: GraphNode): { lanes: Lanes; row: GraphRow } => {
  const waiting = lanes.flatMap((lane, index) => (lane?.waitsFor === node.seq ? [index] : []));
  const at = waiting[0] ?? freeLane(lanes);
  const joining = waiting.slice(1);
  const above = joining.length > 0 ? [joinLine(lanes, at, joining)] : [];
  const next = lanes.map((lane, index) => (joining.includes(index) ? undefined : lane));
  next[at] = { waitsFor: node.seq, drawn: true };
  const onNode = cells(trim(next), (lane, index) => (index === at ? NODE : passing(lane)));
  next[at] = node.parentSeq === null ? undefined : { waitsFor: node.parentSeq, drawn: true };
  const after = trim(next);
  return { lanes: after, row: { seq: node.seq, above, node: onNode, below: cells(after, passing) } };
};

/**
 * `nodes` in any order; every parent is older (smaller seq) than its child. The path from `headSeq` to the
 * root has the leftmost lane, so branches that a rollback left behind are to the right of it.
 */
export const layOutTree = (nodes: readonly GraphNode[], headSeq: number): Graph => {
  const newestFirst = [...nodes].sort((a, b) => b.seq - a.seq);
  const hasHead = nodes.some((node) => node.seq === headSeq);
  let lanes: Lanes = hasHead ? [{ waitsFor: headSeq, drawn: false }] : [];
  const rows = newestFirst.map((node) => {
    const placed = place(lanes, node);
    lanes = placed.lanes;
    return placed.row;
  });
  const open = cells(lanes, (lane) => (lane?.drawn === true ? '┊' : ' '));
  const widest = Math.max(0, ...rows.flatMap((row) => [...row.above, row.node].map((line) => line.length)));
  return { rows, open, width: widest * 2 };
};
