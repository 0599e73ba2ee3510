/** The limits of EventBridge and SNS, with their error messages. */

/** Entries of one PutEvents, and what they may weigh together. Some regions take 1 MB; this is what all of them do. */
export const MAX_ENTRIES = 10;
export const MAX_ENTRIES_BYTES = 256 * 1024;
/** What a timestamp counts for, whatever it says. */
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

/** As EventBridge counts an entry. */
export const entryBytes = ({ Time, Source, DetailType, Detail, Resources = [] }: SizedEntry): number =>
  Buffer.byteLength([Source, DetailType, Detail, ...Resources].join('')) +
  (Time === undefined ? 0 : TIME_BYTES);

/** Printable ASCII that begins with something to see, in one line. */
const SUBJECT = /^[\x21-\x7e][\x20-\x7e]*$/;

/** Why SNS does not take a message; undefined when it does. */
export const messageProblem = (message: string, subject?: string): string | undefined => {
  if (message === '') return 'Invalid parameter: Empty message';
  if (Buffer.byteLength(message) > MAX_MESSAGE_BYTES) return 'Invalid parameter: Message too long';
  if (subject === undefined) return undefined;
  const isFine = subject.length <= MAX_SUBJECT_LENGTH && SUBJECT.test(subject);
  return isFine ? undefined : 'Invalid parameter: Subject';
};
