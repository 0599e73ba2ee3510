/** Ids that the functions take, from what hosts give us. */
import { createHash, randomUUID } from 'node:crypto';
import { ID_PATTERN, RESERVED_ID_PREFIX } from '../contract/ids.ts';

/** 128 bits of what the text is. */
const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

/** An id nobody used yet. */
export const freshId = (prefix: string): string => `${prefix}-${randomUUID()}`;

/** The host's id as it is when the functions take it, else a hash of it. The same text is always the same id. */
export const fitId = (text: string): string =>
  ID_PATTERN.test(text) && !text.startsWith(RESERVED_ID_PREFIX) ? text : `h-${digest(text)}`;

/** Another id of ours that comes of these. */
export const idFrom = (...parts: readonly string[]): string => `h-${digest(JSON.stringify(parts))}`;
