/** Text for a terminal: made printable, cut, wrapped and formatted. */
import { DAY_SECONDS, HOUR_SECONDS } from '../../contract/times.ts';
import { UNSEEN } from '../../contract/unseen.ts';
import { characters, visibleLength } from './columns.ts';

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

/** Columns of the widest text. */
export const widest = (texts: readonly string[]): number => Math.max(0, ...texts.map(visibleLength));

/** The first characters, as many as fit. */
const fitting = (all: readonly string[], width: number): string[] => {
  const kept: string[] = [];
  let room = width;
  for (const character of all) {
    room -= visibleLength(character);
    if (room < 0) break;
    kept.push(character);
  }
  return kept;
};

/** Cuts plain text (without colour codes) to `width`, and marks the cut. */
export const truncate = (text: string, width: number): string => {
  if (visibleLength(text) <= width) return text;
  return width < 1 ? '' : `${fitting(characters(text), width - 1).join('')}…`;
};

/** Like `truncate`, but keeps the end, for a path whose end says more than its beginning. */
export const truncateStart = (text: string, width: number): string => {
  if (visibleLength(text) <= width) return text;
  const kept = fitting(characters(text).toReversed(), width - 1).toReversed();
  return width < 1 ? '' : `…${kept.join('')}`;
};

/** Breaks plain text between words into lines of at most `width`. A longer word stays whole. */
export const wrap = (text: string, width: number): string =>
  text
    .split('\n')
    .map((line) => {
      const lines: string[] = [];
      for (const word of line.split(' ')) {
        const last = lines.at(-1);
        if (last === undefined || visibleLength(last) + 1 + visibleLength(word) > width) lines.push(word);
        else lines[lines.length - 1] = `${last} ${word}`;
      }
      return lines.join('\n');
    })
    .join('\n');

const padding = (text: string, width: number): string => ' '.repeat(Math.max(0, width - visibleLength(text)));

export const padEnd = (text: string, width: number): string => text + padding(text, width);

export const padStart = (text: string, width: number): string => padding(text, width) + text;

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

const two = (value: number): string => String(value).padStart(2, '0');

/** Local time: only the clock on the same day as `now`, else date and minute. */
export const formatTime = (iso: string, now: Date): string => {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  const clock = `${two(at.getHours())}:${two(at.getMinutes())}`;
  if (at.toDateString() === now.toDateString()) return `${clock}:${two(at.getSeconds())}`;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clock}`;
};

/** `24 h`, `90 min`, `10 s`: the largest unit that gives a whole number; below a second `400 ms`. */
export const formatDuration = (ms: number): string => {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = Math.round(ms / 1000);
  if (seconds % HOUR_SECONDS === 0) return `${seconds / HOUR_SECONDS} h`;
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
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
