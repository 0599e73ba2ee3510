/** Cuts text to a size, and never inside a character: DynamoDB refuses half characters. */
import { jsonBytes } from './json-bytes.ts';

/** The beginning of a text, at most `max` UTF-16 units. A character is kept whole or left out. */
export const clip = (text: string, max: number): string => {
  const cut = text.length > max ? text.slice(0, max).replace(/[\uD800-\uDBFF]$/, '') : text;
  return cut.toWellFormed();
};

const isInside = (bytes: Uint8Array, at: number): boolean => ((bytes[at] ?? 0) & 0xc0) === 0x80;

/** The beginning of UTF-8, at most `maxBytes`. A character is kept whole or left out. */
export const clipUtf8 = (bytes: Uint8Array, maxBytes: number): Buffer => {
  let end = Math.min(bytes.length, Math.max(0, maxBytes));
  while (end > 0 && isInside(bytes, end)) end -= 1;
  return Buffer.from(bytes.buffer, bytes.byteOffset, end);
};

/** One UTF-16 code unit takes at most six bytes as JSON: `\u0000`. */
const MOST_BYTES_A_UNIT = 6;

/** The beginning of a text that takes at most `maxBytes` as JSON. */
export const clipJson = (text: string, maxBytes: number): string => {
  if (text.length * MOST_BYTES_A_UNIT + 2 <= maxBytes) return text;
  let kept = text;
  for (let size = jsonBytes(kept); size > maxBytes; size = jsonBytes(kept)) {
    kept = clip(kept, Math.max(0, Math.floor((kept.length * maxBytes) / size) - 1));
    if (kept === '') break;
  }
  return kept;
};
