/** A point of a timeline, as people write it. */
import { CHECKPOINT_ID_PATTERN } from '../contract/ids.ts';

/** A message id or a whole checkpoint id (`cp-00000007-1a2b3c4d`). An object says which of the two a text is. */
export type Point = string | { messageId: string } | { checkpointId: string };

export type Target =
  | { messageId: string; checkpointId?: never }
  | { messageId?: never; checkpointId: string };

export const targetOfPoint = (point: Point): Target => {
  if (typeof point !== 'string') return point;
  return CHECKPOINT_ID_PATTERN.test(point) ? { checkpointId: point } : { messageId: point };
};
