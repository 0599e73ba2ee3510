/**
 * Marks stand for resource keys. A saga tells its parent the marks of all keys that it and its children
 * touched. They are part of one ledger entry, so their number is bounded to fit its item. Pure.
 */
import { sha256Hex } from '../../shared/ids.ts';

/** Each mark, with the time of the last start of an effect on it. */
export interface Touched {
  [mark: string]: number;
}

const MARK_LENGTH = 12;
/**
 * Length of a short mark, used when there are many. There are 4,096 short marks, and each stands for all
 * marks that begin with it.
 */
const SHORT_LENGTH = 3;
/** The steps of one saga touch at most this many. Only agents together can touch more. */
const MAX_MARKS = 1000;

/**
 * A short mark that stands for a resource key in the state, where many effects may have failed. '' without a
 * key.
 */
export const resourceMark = (key: string | null): string =>
  key === null ? '' : sha256Hex(key).slice(0, MARK_LENGTH);

const addTo = (touched: Touched, mark: string, ms: number): void => {
  touched[mark] = Math.max(touched[mark] ?? 0, ms);
};

/**
 * Shortens the marks when there are too many. Two sagas that share a resource are still found; two that share
 * none may be taken for sharing one.
 */
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

/** Whether two touched, or may have touched, the same resource. */
export const shareMark = (one: Touched, other: Touched): boolean =>
  Object.keys(one).some((mark) => isIn(mark, other)) || Object.keys(other).some((mark) => isIn(mark, one));
