/** The receiving side of an HTTP tool: checks that a call was made by our Walkback, and just now. */
import { timingSafeEqual } from 'node:crypto';
import { SIGNATURE_HEADER, signatureOf } from '../core/saga/tools/http-signature.ts';

type GivenHeaders = Headers | Readonly<Record<string, string | string[] | undefined>>;

const FORMAT = /^t=(\d{1,12}),v2=([0-9a-f]{64})$/;

const headerOf = (headers: GivenHeaders): string => {
  if (headers instanceof Headers) return headers.get(SIGNATURE_HEADER) ?? '';
  const found = Object.entries(headers).find(([name]) => name.toLowerCase() === SIGNATURE_HEADER);
  return typeof found?.[1] === 'string' ? found[1] : '';
};

export interface GivenCall {
  /** The endpoint as in its manifest. It must come from configuration, not from the request. */
  url: string;
  headers: GivenHeaders;
  /** The bytes as they arrived, before any parsing. */
  body: string | Uint8Array;
}

const isSame = (given: string, expected: string): boolean =>
  timingSafeEqual(Buffer.from(given), Buffer.from(expected));

/**
 * `key`: that of the endpoint's origin (docs/tools.md). While it is being changed, the old and the new one.
 * `now`: Unix milliseconds.
 */
export const verifySignature = (
  { url, headers, body }: GivenCall,
  key: string | readonly string[],
  { toleranceSeconds = 300, now = Date.now }: { toleranceSeconds?: number; now?: () => number } = {},
): boolean => {
  const [, digits = '', given = ''] = FORMAT.exec(headerOf(headers)) ?? [];
  if (given === '') return false;
  const seconds = Number(digits);
  if (Math.abs(now() / 1000 - seconds) > toleranceSeconds) return false;
  return [key].flat().some((one) => isSame(given, signatureOf(one, { seconds, url, body })));
};
