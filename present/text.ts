/** Text for people, on a terminal and on a page: made printable and formatted. */
import { DAY_SECONDS, HOUR_SECONDS } from '../contract/times.ts';
import { UNSEEN } from '../contract/unseen.ts';

/**
 * Makes text from a repository or a model safe to print: invisible characters that have an effect become
 * visible. So a file name can neither move the cursor nor recolour the screen, and an address contains
 * nothing that its reader does not see.
 */
export const printable = (text: string): string =>
  text.replaceAll(UNSEEN, (character) => {
    if (character === '\n' || character === '\t') return character;
    const code = character.codePointAt(0) ?? 0;
    // The letter holds it together: beside Arabic or Hebrew, digits alone would be shown somewhere else.
    return code < 32
      ? `^${String.fromCharCode(code + 64)}`
      : `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
  });

/** Like `printable`, for text that must stay on one line. */
export const printableLine = (text: string): string =>
  printable(text.replaceAll('\n', '\\n').replaceAll('\t', '\\t'));

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** `1234` -> `1.2 KiB`. */
export const formatBytes = (bytes: number): string => {
  let value = bytes;
  let unit = 0;
  while (value >= 1023.5 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.5 ? 0 : 1;
  return `${value.toFixed(digits)} ${UNITS[unit] ?? ''}`;
};

const SPANS = [
  ['days', DAY_SECONDS],
  ['h', HOUR_SECONDS],
  ['min', 60],
  ['s', 1],
] as const;

/** A measured time, `2 days 3 h`, `27 min 3 s`: the two largest units. */
export const formatSpan = (seconds: number): string => {
  let rest = seconds;
  const parts = SPANS.flatMap(([unit, length]) => {
    const count = Math.floor(rest / length);
    rest -= count * length;
    return count === 0 ? [] : [`${count} ${count === 1 && unit === 'days' ? 'day' : unit}`];
  });
  return parts.slice(0, 2).join(' ') || '0 s';
};

/** Joins at most `most` names and counts the others. */
export const listSome = (names: readonly string[], most: number): string => {
  const more = names.length - most;
  return more > 0 ? `${names.slice(0, most).join(', ')} and ${more} more` : names.join(', ');
};
