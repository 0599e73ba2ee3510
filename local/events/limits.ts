/** The limits of EventBridge and SNS, with their error messages. */

/**
 * Most entries of one PutEvents, and most bytes of all together. Some regions accept 1 MB; this is what all
 * accept.
 */
export const MAX_ENTRIES = 10;
export const MAX_ENTRIES_BYTES = 256 * 1024;
/** Bytes that a timestamp counts, whatever it says. */
const TIME_BYTES = 14;

const MAX_MESSAGE_BYTES = 256 * 1024;
const MAX_SUBJECT_LENGTH = 100;

export interface SizedEntry {
  Time?: number;
  Source?: string;
  DetailType?: string;
  Detail?: string;
  Resources?: string[];
}

/** The size of an entry as EventBridge counts it. */
export const entryBytes = ({ Time, Source, DetailType, Detail, Resources = [] }: SizedEntry): number =>
  Buffer.byteLength([Source, DetailType, Detail, ...Resources].join('')) +
  (Time === undefined ? 0 : TIME_BYTES);

/** One line of printable ASCII that begins with a visible character. */
const SUBJECT = /^[\x21-\x7e][\x20-\x7e]*$/;

/** Why SNS refuses a message; undefined when it accepts it. */
export const messageProblem = (message: string, subject?: string): string | undefined => {
  if (message === '') return 'Invalid parameter: Empty message';
  if (Buffer.byteLength(message) > MAX_MESSAGE_BYTES) return 'Invalid parameter: Message too long';
  if (subject === undefined) return undefined;
  const isFine = subject.length <= MAX_SUBJECT_LENGTH && SUBJECT.test(subject);
  return isFine ? undefined : 'Invalid parameter: Subject';
};
