import { createHash, timingSafeEqual } from 'node:crypto';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares in constant time, whatever the lengths. */
export const sameSecret = (given: string | null | undefined, expected: string): boolean =>
  timingSafeEqual(digest(given ?? ''), digest(expected)) && expected !== '';
