/** Ranges of days in a zone, and where a page begins in them. The index has days in UTC. */
import { DAY_MS } from '../../../contract/times.ts';
import { dayOfBound, firstUtcDay, isFrom, isUntil, lastUtcDay, UTC } from '../../../contract/zones.ts';
import { numbered, requireGiven } from '../../shared/cursor.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { plural } from '../../shared/plural.ts';

/** Number of days up to today, when no day is given. */
const DAYS_BACK = 7;
const MAX_DAYS = 3_660;

export interface AskedDays {
  day?: string | undefined;
  /** A day, or a time with its offset. */
  from?: string | undefined;
  /** A day, which is whole, or a time, which is left out. */
  to?: string | undefined;
  /** Days are those of this zone; default UTC. */
  zone?: string | undefined;
}

const utcDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

interface Range {
  first: string;
  last: string;
  zone: string;
}

const rangeOf = ({ day, from, to, zone = UTC }: AskedDays, today: string): Range => {
  if (day !== undefined && (from ?? to) !== undefined) {
    throw new WalkbackError('InvalidInput', 'day: is one day; leave it out with from and to.');
  }
  const last = day ?? to ?? (from !== undefined && from > today ? from : today);
  const week = utcDay(Date.parse(dayOfBound(last, zone)) - (DAYS_BACK - 1) * DAY_MS);
  return { first: day ?? from ?? week, last, zone };
};

/** The days of the index, which are in UTC, that the range touches: oldest first. */
const daysOf = ({ first, last, zone }: Range): string[] => {
  const begin = firstUtcDay(first, zone);
  const end = lastUtcDay(last, zone);
  const isTimes = first.includes('T') && last.includes('T');
  if (
    begin > end ||
    (isTimes ? Date.parse(first) >= Date.parse(last) : dayOfBound(first, zone) > dayOfBound(last, zone))
  ) {
    throw new WalkbackError('InvalidInput', `from: ${first} is after ${last}.`);
  }
  const count = Math.round((Date.parse(end) - Date.parse(begin)) / DAY_MS) + 1;
  if (count > MAX_DAYS) {
    throw new WalkbackError(
      'InvalidInput',
      `from: asks for ${plural(count, 'day')}; at most ${MAX_DAYS} at once.`,
    );
  }
  return Array.from({ length: count }, (_, at) => utcDay(Date.parse(begin) + at * DAY_MS));
};

/** Whether a time is in the days, or between the times, that were asked for. Of nothing asked, each is. */
export const isAsked = ({ day, from, to, zone = UTC }: AskedDays): ((at: string) => boolean) => {
  const begin = day ?? from;
  const end = day ?? to;
  const isLate = begin === undefined ? () => true : isFrom(begin, zone);
  const isEarly = end === undefined ? () => true : isUntil(end, zone);
  return (at) => isLate(at) && isEarly(at);
};

const ENTRY = numbered('');

/**
 * Where a page begins in the ledger of one saga: the number of an entry, at most that of the next entry to be
 * written.
 */
export const entryFrom = (cursor: string, next: number): number => ENTRY.read(cursor, { from: 1, to: next });

/** The cursor is `<day>|<cursor inside the day>`. */
export const dayCursor = (day: string, within: string | undefined): string => `${day}|${within ?? ''}`;

const CURSOR = /^(\d{4}-\d{2}-\d{2})\|(.*)$/;

const isDay = (text: string): boolean => {
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && utcDay(ms) === text;
};

/**
 * Where the page begins: the days of the index that are left, the cursor inside the first of them, and which
 * of their entries were asked for.
 */
export const daysFrom = (
  asked: AskedDays,
  today: string,
  cursor: string | undefined,
): { days: readonly string[]; within?: string; isIn: (at: string) => boolean } => {
  const range = rangeOf(asked, today);
  const days = daysOf(range);
  const isIn = isAsked({ from: range.first, to: range.last, zone: range.zone });
  if (cursor === undefined) return { days, isIn };
  const [, day = '', within = ''] = CURSOR.exec(cursor) ?? [];
  const [first = '', last = ''] = [days[0], days.at(-1)];
  // Without a given day, the range moves with time. The day where it began may be outside of it by now.
  const moves = (asked.day ?? asked.from ?? asked.to) === undefined;
  requireGiven(isDay(day) && day <= last && (moves || day > first || (day === first && within !== '')));
  const left = days.filter((one) => one >= day);
  return { days: left, isIn, ...(within === '' || left[0] !== day ? {} : { within }) };
};
