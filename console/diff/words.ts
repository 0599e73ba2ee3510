/** Finds the words that differ in a changed line. Pure. */
import { diffWordsWithSpace } from 'diff';
import type { DiffLine } from './parse.ts';

/** From one character of a line to before another. */
export interface Span {
  from: number;
  to: number;
}

/** For longer lines, comparing words costs more than it helps. */
const LONGEST = 400;
/** A line that shares less than this with the other has changed as a whole. */
const IN_COMMON = 0.35;

const spansOf = (before: string, after: string): { removed: Span[]; added: Span[] } | undefined => {
  if (before.length > LONGEST || after.length > LONGEST) return undefined;
  const removed: Span[] = [];
  const added: Span[] = [];
  let [at, to, common] = [0, 0, 0];
  for (const { value, added: isAdded, removed: isRemoved } of diffWordsWithSpace(before, after)) {
    const { length } = value;
    if (isAdded) added.push({ from: to, to: to + length });
    else if (isRemoved) removed.push({ from: at, to: at + length });
    else common += value.trim().length;
    if (!isAdded) at += length;
    if (!isRemoved) to += length;
  }
  const most = Math.max(before.trim().length, after.trim().length);
  return common < most * IN_COMMON ? undefined : { removed, added };
};

/**
 * Compares removed lines with the added ones right after them: the first with the first, the second with the
 * second.
 */
export const changedWords = (lines: readonly DiffLine[]): Map<DiffLine, Span[]> => {
  const found = new Map<DiffLine, Span[]>();
  for (let at = 0; at < lines.length; ) {
    const start = at;
    while (lines[at]?.kind === 'removed') at += 1;
    const removed = lines.slice(start, at);
    const middle = at;
    while (lines[at]?.kind === 'added') at += 1;
    const added = lines.slice(middle, at);
    if (at === start) at += 1;
    if (removed.length !== added.length) continue;
    for (const [index, before] of removed.entries()) {
      const after = added[index];
      const spans = after === undefined ? undefined : spansOf(before.text, after.text);
      if (after === undefined || spans === undefined) continue;
      found.set(before, spans.removed);
      found.set(after, spans.added);
    }
  }
  return found;
};
