/** Writes how children ended, one letter each, so that a head with 40 children stays small. */
import type { ChildStatus } from '../model/children.ts';

export type ChildLetter = 'c' | 'u' | 'f' | 'r' | '-';

/** `-`: the child has not ended. */
export const letterOf = (status: ChildStatus | null): ChildLetter => {
  switch (status) {
    case 'COMPLETED':
      return 'c';
    case 'COMPENSATED':
      return 'u';
    case 'COMPENSATION_FAILED':
      return 'f';
    case 'REFUSED':
      return 'r';
    default:
      return '-';
  }
};

/** Undefined for `-`. */
export const childStatus = (letter: string | undefined): ChildStatus | undefined => {
  switch (letter) {
    case 'c':
      return 'COMPLETED';
    case 'u':
      return 'COMPENSATED';
    case 'f':
      return 'COMPENSATION_FAILED';
    case 'r':
      return 'REFUSED';
    default:
      return undefined;
  }
};

/** The letters, changed at some places. */
export const withLetters = (letters: string, places: readonly number[], letter: string): string =>
  Array.from(letters, (before, at) => (places.includes(at) ? letter : before)).join('');
