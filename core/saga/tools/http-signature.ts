/**
 * Signs a call of an HTTP tool, to prove that it comes from us and is meant for this endpoint: HMAC-SHA256
 * over its time, its URL and its body. Every origin has its own key, derived from the one secret, so the
 * owner of one tool cannot sign for another.
 */
import { createHmac } from 'node:crypto';

export const SIGNATURE_HEADER = 'walkback-signature';

/** The signed parts of a call. `url` is the endpoint as in its manifest; `seconds`: Unix time. */
export interface Signed {
  seconds: number;
  url: string;
  body: string | Uint8Array;
}

/** The key for the endpoint's origin (scheme, host, port) only. Hex, used as text. */
export const endpointKey = (secret: string, endpoint: string): string =>
  createHmac('sha256', secret).update(new URL(endpoint).origin).digest('hex');

/** Hex, of `<seconds>\n<url>\n<body>`, the URL in its normal form. */
export const signatureOf = (key: string, { seconds, url, body }: Signed): string =>
  createHmac('sha256', key)
    .update(`${seconds}\n${new URL(url).href}\n`)
    .update(body)
    .digest('hex');

export const signatureHeader = (key: string, signed: Signed): string =>
  `t=${signed.seconds},v2=${signatureOf(key, signed)}`;
