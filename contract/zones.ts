/** Days and times in a time zone, as people and their books count them. The ledger itself is in UTC. */
import { DAY_MS } from './times.ts';

export const UTC = 'UTC';

const FORMATS = new Map<string, Intl.DateTimeFormat>();

/** Swedish writes `2026-03-29 03:00:00`. Throws a `RangeError` for what is no zone. */
const formatOf = (zone: string): Intl.DateTimeFormat => {
  const known = FORMATS.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  FORMATS.set(zone, made);
  return made;
};

/** A name of the IANA (`Europe/Berlin`) or an offset (`+02:00`). */
export const isZone = (text: string): boolean => {
  try {
    formatOf(text);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
};

/** `2026-03-29 03:00:00`, in the zone, of a time in ISO 8601. */
export const timeIn = (zone: string, at: string): string =>
  zone === UTC && at.endsWith('Z')
    ? at.slice(0, 19).replace('T', ' ')
    : formatOf(zone).format(Date.parse(at));

/** The day in the zone, as `2026-03-29`. */
export const dayIn = (zone: string, at: string): string => timeIn(zone, at).slice(0, 10);

const DAY = /^\d{4}-\d\d-\d\d$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/;

/** A day, as `2026-03-31`, or a time with its offset, as `2026-03-31T00:00:00+02:00`. */
export const isDayOrTime = (text: string): boolean => {
  const day = Date.parse(text.slice(0, 10));
  const isReal = !Number.isNaN(day) && new Date(day).toISOString().startsWith(text.slice(0, 10));
  return isReal && (DAY.test(text) || (TIME.test(text) && !Number.isNaN(Date.parse(text))));
};

const isTime = (bound: string): boolean => bound.includes('T');

/** Whether a time of the ledger is at or after a bound: a day begins in its zone. */
export const isFrom = (bound: string, zoneName: string): ((at: string) => boolean) => {
  if (!isTime(bound)) return (at) => dayIn(zoneName, at) >= bound;
  const ms = Date.parse(bound);
  return (at) => Date.parse(at) >= ms;
};

/** Whether a time is before the end of a bound: a day is whole, a time itself is left out. */
export const isUntil = (bound: string, zoneName: string): ((at: string) => boolean) => {
  if (!isTime(bound)) return (at) => dayIn(zoneName, at) <= bound;
  const ms = Date.parse(bound);
  return (at) => Date.parse(at) < ms;
};

const utcDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const plusDays = (day: string, days: number): string => utcDay(Date.parse(day) + days * DAY_MS);

/** The first day in UTC that has a time at or after the bound. */
export const firstUtcDay = (bound: string, zoneName: string): string => {
  if (isTime(bound)) return utcDay(Date.parse(bound));
  const before = plusDays(bound, -1);
  return dayIn(zoneName, `${before}T23:59:59.999Z`) >= bound ? before : bound;
};

/** The last day in UTC that has a time before the end of the bound. */
export const lastUtcDay = (bound: string, zoneName: string): string => {
  if (isTime(bound)) return utcDay(Date.parse(bound) - 1);
  const after = plusDays(bound, 1);
  return dayIn(zoneName, `${after}T00:00:00.000Z`) <= bound ? after : bound;
};

/** The day of a bound in its zone. */
export const dayOfBound = (bound: string, zoneName: string): string =>
  isTime(bound) ? dayIn(zoneName, bound) : bound;
