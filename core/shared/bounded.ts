/**
 * Keeps lists and texts small enough for a stored item, which has 400 KB for everything. Sizes are measured
 * as JSON. Pure.
 */
import { clip } from './clip.ts';
import { jsonBytes } from './json-bytes.ts';

export interface Bound {
  count: number;
  bytes: number;
}

/** The first items, at most `count` of them and at most `bytes` together. */
export const firstThatFit = <T>(items: readonly T[], { count, bytes }: Bound): T[] => {
  const kept: T[] = [];
  let room = bytes;
  for (const item of items) {
    // One more byte for the comma.
    room -= jsonBytes(item) + 1;
    if (kept.length >= count || room < 0) break;
    kept.push(item);
  }
  return kept;
};

/** The same, with a last line that says how many are left out. */
export const firstLines = (
  lines: readonly string[],
  bound: Bound,
  more: (left: number) => string,
): string[] => {
  const kept = firstThatFit(lines, bound);
  return kept.length === lines.length ? kept : [...kept, more(lines.length - kept.length)];
};

const MAX_TEXT = 500;

/** A path or a reason, shortened for people. */
export const shortened = (text: string): string =>
  text.length <= MAX_TEXT ? text : `${clip(text, MAX_TEXT)}...`;
