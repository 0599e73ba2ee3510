/** How a call of an HTTP tool says that it is ours: HMAC-SHA256 over its time and its body. */
import { createHmac } from 'node:crypto';

export const SIGNATURE_HEADER = 'walkback-signature';

/** Hex, of `<seconds>.<body>`. */
export const signatureOf = (secret: string, seconds: number, body: string | Uint8Array): string =>
  createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex');

export const signatureHeader = (secret: string, seconds: number, body: string | Uint8Array): string =>
  `t=${seconds},v1=${signatureOf(secret, seconds, body)}`;
