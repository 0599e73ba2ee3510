/** A point of a timeline, as people write it. */
import { CHECKPOINT_ID_PATTERN } from '../contract/ids.ts';
import { fitId } from './ids.ts';

/**
 * A message id, as your host says it, or a whole checkpoint id (`cp-00000007-1a2b3c4d`). Use an object to say
 * which of the two a text is.
 */
export type Point = string | { messageId: string } | { checkpointId: string };

export type Target =
  | { messageId: string; checkpointId?: never }
  | { messageId?: never; checkpointId: string };

/** The message with the id under which its checkpoints were taken. */
export const withFitMessage = <T extends object>(options: T): T =>
  'messageId' in options && typeof options.messageId === 'string'
    ? { ...options, messageId: fitId(options.messageId) }
    : options;

export const targetOfPoint = (point: Point): Target => {
  if (typeof point !== 'string') return withFitMessage(point);
  return CHECKPOINT_ID_PATTERN.test(point) ? { checkpointId: point } : { messageId: fitId(point) };
};
