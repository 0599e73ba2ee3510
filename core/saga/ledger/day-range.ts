/** Ranges of days (UTC), and where a page begins in them. */
import { DAY_MS } from '../../../contract/times.ts';
import { numbered, requireGiven } from '../../shared/cursor.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { plural } from '../../shared/plural.ts';

/** Number of days up to today, when no day is given. */
const DAYS_BACK = 7;
const MAX_DAYS = 3_660;
/**
 * One call over days reads for this long, then answers what it has with a cursor. The HTTP API does not wait
 * much longer.
 */
export const PART_MS = 12_000;

export interface AskedDays {
  day?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

const dayAt = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** The days that were asked for, oldest first, both ends included. */
const daysOf = ({ day, from, to }: AskedDays, today: string): string[] => {
  if (day !== undefined && (from ?? to) !== undefined) {
    throw new WalkbackError('InvalidInput', 'day: is one day; leave it out with from and to.');
  }
  const last = day ?? to ?? (from !== undefined && from > today ? from : today);
  const first = day ?? from ?? dayAt(Date.parse(last) - (DAYS_BACK - 1) * DAY_MS);
  if (first > last) throw new WalkbackError('InvalidInput', `from: ${first} is after ${last}.`);
  const count = Math.round((Date.parse(last) - Date.parse(first)) / DAY_MS) + 1;
  if (count > MAX_DAYS) {
    throw new WalkbackError(
      'InvalidInput',
      `from: asks for ${plural(count, 'day')}; at most ${MAX_DAYS} at once.`,
    );
  }
  return Array.from({ length: count }, (_, at) => dayAt(Date.parse(first) + at * DAY_MS));
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
  return !Number.isNaN(ms) && dayAt(ms) === text;
};

/** Where the page begins: the days that are left, and the cursor inside the first of them. */
export const daysFrom = (
  asked: AskedDays,
  today: string,
  cursor: string | undefined,
): { days: readonly string[]; within?: string } => {
  const days = daysOf(asked, today);
  if (cursor === undefined) return { days };
  const [, day = '', within = ''] = CURSOR.exec(cursor) ?? [];
  const [first = '', last = ''] = [days[0], days.at(-1)];
  // Without a given day, the range moves with time. The day where it began may be outside of it by now.
  const moves = (asked.day ?? asked.from ?? asked.to) === undefined;
  requireGiven(isDay(day) && day <= last && (moves || day > first || (day === first && within !== '')));
  const left = days.filter((one) => one >= day);
  return { days: left, ...(within === '' || left[0] !== day ? {} : { within }) };
};
