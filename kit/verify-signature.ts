/** The receiving side of an HTTP tool: was this call made by our Walkback, and just now? */
import { timingSafeEqual } from 'node:crypto';
import { SIGNATURE_HEADER, signatureOf } from '../core/saga/http-signature.ts';

type GivenHeaders = Headers | Readonly<Record<string, string | string[] | undefined>>;

const FORMAT = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/;

const headerOf = (headers: GivenHeaders): string => {
  if (headers instanceof Headers) return headers.get(SIGNATURE_HEADER) ?? '';
  const found = Object.entries(headers).find(([name]) => name.toLowerCase() === SIGNATURE_HEADER);
  return typeof found?.[1] === 'string' ? found[1] : '';
};

/** `body`: the bytes as they came, before any parsing. `now` answers Unix milliseconds. */
export const verifySignature = (
  headers: GivenHeaders,
  body: string | Uint8Array,
  secret: string,
  { toleranceSeconds = 300, now = Date.now }: { toleranceSeconds?: number; now?: () => number } = {},
): boolean => {
  const [, seconds = '', given = ''] = FORMAT.exec(headerOf(headers)) ?? [];
  if (given === '') return false;
  if (Math.abs(now() / 1000 - Number(seconds)) > toleranceSeconds) return false;
  const expected = signatureOf(secret, Number(seconds), body);
  return timingSafeEqual(Buffer.from(given), Buffer.from(expected));
};
