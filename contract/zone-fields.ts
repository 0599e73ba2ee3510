/** Days, times and time zones as fields of an input. */
import * as z from 'zod';
import { isDayOrTime, isZone } from './zones.ts';

export const zone = () =>
  z
    .string()
    .min(1)
    .max(64)
    .refine(isZone, { error: 'is no time zone; give a name, as Europe/Berlin, or an offset, as +02:00' });

/** A day in the zone that was asked for, or a time with its offset. */
export const dayOrTime = () =>
  z.string().max(40).refine(isDayOrTime, {
    error: 'give a day, as 2026-03-31, or a time with its offset, as 2026-03-31T00:00:00+02:00',
  });
