/** Text for a terminal: cut, wrapped and formatted. */
import { HOUR_SECONDS } from '../../contract/times.ts';
import { characters, visibleLength } from './columns.ts';

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
