/**
 * Finds what undo and redo mean in a timeline. As in an editor, undo takes back the last rollback that
 * stands, redo repeats what was undone last, and new work ends redoing. Merges and reverts count as rollbacks
 * to what they composed. Pure: the checkpoints alone tell everything.
 */
import { COMPOSED_REASONS } from './whose-work.ts';

export interface HistoryPoint {
  seq: number;
  parentSeq: number | null;
  reason: string;
  detached: boolean;
  /**
   * A rollback that broke off and was finished later has captured more than once. The ids of its captures
   * have the same request in them.
   */
  toolExecutionId: string;
}

/** Where undo and redo lead: the seq of a checkpoint. Undefined: there is nothing. */
export interface UndoHistory {
  undo: number | undefined;
  redo: number | undefined;
}

/** A rollback that took place: from the state that it captured first to its target. */
interface Move {
  from: number;
  to: number | null;
}

const ROLLBACK = 'rollback';
/** Checkpoints with these reasons were never a head. */
const BESIDE = new Set(['late-writes']);

/**
 * Reasons are free text, so a composed checkpoint is also recognised by its place: right after the capture of
 * its rollback, and on top of it.
 */
const isComposed = ({ reason, parentSeq }: HistoryPoint, before: HistoryPoint | undefined): boolean =>
  COMPOSED_REASONS.has(reason) && before?.reason === ROLLBACK && parentSeq === before.seq;

const requestOf = ({ toolExecutionId }: HistoryPoint): string => toolExecutionId.replace(/-\d+$/, '');

/** A further capture of the rollback before it, which had broken off. */
const isAgain = (point: HistoryPoint | undefined, before: HistoryPoint | undefined): boolean =>
  point?.reason === ROLLBACK && before?.reason === ROLLBACK && requestOf(point) === requestOf(before);

/** Moves and work in the order in which they happened. A rollback that failed or was put back is no move. */
const eventsOf = (points: readonly HistoryPoint[], headSeq: number): (Move | 'work')[] => {
  const way = points
    .filter(({ detached, reason }) => !detached && !BESIDE.has(reason))
    .toSorted((a, b) => a.seq - b.seq)
    .filter((point, at, all) => !isComposed(point, all[at - 1]));
  return way.flatMap((point, at): (Move | 'work')[] => {
    if (point.reason !== ROLLBACK) return ['work'];
    if (isAgain(point, way[at - 1])) return [];
    let last = at;
    while (isAgain(way[last + 1], way[last])) last += 1;
    const next = way[last + 1];
    // The next checkpoint's parent is where the rollback led.
    const to = next === undefined ? headSeq : next.parentSeq;
    const captures = way.slice(at, last + 1).map(({ seq }) => seq);
    return to !== null && captures.includes(to) ? [] : [{ from: point.seq, to }];
  });
};

/** `points` may be only the newest part of the timeline. Older rollbacks are then not known. */
export const undoHistory = (points: readonly HistoryPoint[], headSeq: number): UndoHistory => {
  const undos: number[] = [];
  const redos: number[] = [];
  for (const event of eventsOf(points, headSeq)) {
    if (event === 'work') redos.length = 0;
    else if (event.to !== null && event.to === undos.at(-1)) {
      undos.pop();
      redos.push(event.from);
    } else {
      if (event.to !== null && event.to === redos.at(-1)) redos.pop();
      else redos.length = 0;
      undos.push(event.from);
    }
  }
  return { undo: undos.at(-1), redo: redos.at(-1) };
};
