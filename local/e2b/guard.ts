/**
 * Decides who may use this server. It runs commands on the user's machine, so a web page must not reach it
 * (no `Origin`, and no `Host` but loopback: DNS rebinding), nor anyone without the secrets.
 */
import { createHash, timingSafeEqual } from 'node:crypto';

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;

/** Why a request is refused before anything else is looked at; undefined when it is not. */
export const refusal = (headers: Headers): string | undefined => {
  if (headers.has('origin')) return 'Requests from web pages are refused.';
  if (!LOOPBACK.test(headers.get('host') ?? '')) return 'Only requests to a loopback host are answered.';
  return undefined;
};

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares in constant time, whatever the lengths. */
export const sameSecret = (given: string | null | undefined, expected: string): boolean =>
  timingSafeEqual(digest(given ?? ''), digest(expected)) && expected !== '';
