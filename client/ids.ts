/** Makes ids that the functions accept, from what hosts give us. */
import { createHash, randomUUID } from 'node:crypto';
import { ID_PATTERN, RESERVED_ID_PREFIX } from '../contract/ids.ts';

/** 128 bits of the text's hash. */
const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

/** An id that nobody has used yet. */
export const freshId = (prefix: string): string => `${prefix}-${randomUUID()}`;

/**
 * The host's id itself when the functions accept it, else a hash of it. The same text always gives the same
 * id.
 */
export const fitId = (text: string): string =>
  ID_PATTERN.test(text) && !text.startsWith(RESERVED_ID_PREFIX) ? text : `h-${digest(text)}`;

/** An id of ours that follows from these texts. */
export const idFrom = (...parts: readonly string[]): string => `h-${digest(JSON.stringify(parts))}`;
