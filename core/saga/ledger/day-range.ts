/** Ranges of days, in UTC, and where in one a page begins. */
import { badCursor } from '../../shared/cursor.ts';
import { WalkbackError } from '../../shared/errors.ts';

/** Without any day: this many, up to today. */
const DAYS_BACK = 7;
const MAX_DAYS = 3_660;
const DAY_MS = 86_400_000;

export interface AskedDays {
  day?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

const dayAt = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** The days that are asked for, oldest first, both ends included. */
export const daysOf = ({ day, from, to }: AskedDays, today: string): string[] => {
  if (day !== undefined && (from ?? to) !== undefined) {
    throw new WalkbackError('InvalidInput', 'day: is one day; leave it out with from and to.');
  }
  const last = day ?? to ?? (from !== undefined && from > today ? from : today);
  const first = day ?? from ?? dayAt(Date.parse(last) - (DAYS_BACK - 1) * DAY_MS);
  if (first > last) throw new WalkbackError('InvalidInput', `from: ${first} is after ${last}.`);
  const count = Math.round((Date.parse(last) - Date.parse(first)) / DAY_MS) + 1;
  if (count > MAX_DAYS) {
    throw new WalkbackError('InvalidInput', `from: asks for ${count} days; at most ${MAX_DAYS} at once.`);
  }
  return Array.from({ length: count }, (_, at) => dayAt(Date.parse(first) + at * DAY_MS));
};

/** Where in the ledger of one saga a page begins: the number of an entry, at most that of the next one to be written. */
export const entryFrom = (cursor: string, next = Number.POSITIVE_INFINITY): number => {
  if (/^\d{1,9}$/.test(cursor) && Number(cursor) <= next) return Number(cursor);
  throw badCursor();
};

/** The cursor is `<day>|<cursor inside the day>`. */
export const dayCursor = (day: string, within: string | undefined): string => `${day}|${within ?? ''}`;

const CURSOR = /^(\d{4}-\d{2}-\d{2})\|(.*)$/;

/** Where the page begins: the days that are left, and the cursor inside the first. Days that went by meanwhile are not. */
export const daysFrom = (
  days: readonly string[],
  cursor: string | undefined,
): { days: readonly string[]; within?: string } => {
  if (cursor === undefined) return { days };
  const [, day = '', within = ''] = CURSOR.exec(cursor) ?? [];
  if (day === '' || day > (days.at(-1) ?? '')) throw badCursor();
  const left = days.filter((one) => one >= day);
  return { days: left, ...(within === '' || left[0] !== day ? {} : { within }) };
};
