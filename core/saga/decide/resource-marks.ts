/**
 * Marks that stand for resource keys. A saga tells its parent those of all that it and its children touched, and they are
 * an entry of one ledger: there are never so many that it is too large for its item. Pure.
 */
import { sha256Hex } from '../../shared/ids.ts';

/** Each mark with the time of the last start on it. */
export interface Touched {
  [mark: string]: number;
}

const MARK_LENGTH = 12;
/** Of many: there are 4,096 of them, and each stands for all marks that begin with it. */
const SHORT_LENGTH = 3;
/** As many as the steps of one saga touch. Only those of agents together can touch more. */
const MAX_MARKS = 1000;

/**
 * A short mark that stands for a resource key in the state, because many effects may fail. '' without a
 * key.
 */
export const resourceMark = (key: string | null): string =>
  key === null ? '' : sha256Hex(key).slice(0, MARK_LENGTH);

const addTo = (touched: Touched, mark: string, ms: number): void => {
  touched[mark] = Math.max(touched[mark] ?? 0, ms);
};

/** Of many marks short ones: what shares a resource is still found, and something that does not may be taken for it. */
export const boundedMarks = (touched: Touched): Touched => {
  const all = Object.entries(touched);
  if (all.length <= MAX_MARKS) return touched;
  const bounded: Touched = {};
  for (const [mark, ms] of all) addTo(bounded, mark.slice(0, SHORT_LENGTH), ms);
  return bounded;
};

export const mergedMarks = (all: readonly Touched[]): Touched => {
  const merged: Touched = {};
  for (const [mark, ms] of all.flatMap((one) => Object.entries(one))) addTo(merged, mark, ms);
  return merged;
};

const isIn = (mark: string, touched: Touched): boolean =>
  touched[mark] !== undefined || touched[mark.slice(0, SHORT_LENGTH)] !== undefined;

/** Whether two touched the same resource, or may have. */
export const shareMark = (one: Touched, other: Touched): boolean =>
  Object.keys(one).some((mark) => isIn(mark, other)) || Object.keys(other).some((mark) => isIn(mark, one));
