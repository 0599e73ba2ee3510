/**
 * Finds the checkpoint that undo and redo go to, for the client and the command. The timeline decides, with
 * the meaning that an editor gives to undo and redo.
 */
import type { TimelineAnswer, TimelineCheckpoint } from '../contract/checkpoint-answers.ts';
import { undoHistory } from '../core/checkpoint/timeline/undo-history.ts';
import { errors } from './errors.ts';

export type Way = 'undo' | 'redo';

/** Enough for any session that people look at. Older checkpoints are not searched. */
const MOST_CHECKPOINTS = 5000;
const PAGE = 200;

export const NOTHING: Record<Way, string> = {
  undo: 'Nothing to undo: no rollback of this session stands.',
  redo: 'Nothing to redo: the last thing that happened to this session is no undo.',
};

const movedSince = (decided: number, now: number): Error =>
  new errors.StaleEpoch(
    `Epoch ${decided} is not the current epoch ${now}: somebody moved the session meanwhile, or it was undone and the answer was lost. Nothing was changed by this request. Look at the timeline, and go on with its epoch.`,
  );

/**
 * The checkpoint, and the epoch in which this holds. Undefined: there is nothing to undo or redo. Throws
 * `StaleEpoch` when it was decided in another epoch.
 */
export const findUndo = async (
  way: Way,
  read: (page: { limit: number; cursor?: string }) => Promise<TimelineAnswer>,
  decided?: number,
): Promise<{ checkpointId: string; epoch: number } | undefined> => {
  const first = await read({ limit: PAGE });
  const { epoch } = first.session;
  if (decided !== undefined && decided !== epoch) throw movedSince(decided, epoch);
  const found: TimelineCheckpoint[] = [...first.checkpoints];
  let { cursor } = first;
  while (cursor !== undefined && found.length < MOST_CHECKPOINTS) {
    const next = await read({ limit: PAGE, cursor });
    found.push(...next.checkpoints);
    ({ cursor } = next);
  }
  const seq = undoHistory(found, first.session.headSeq)[way];
  const checkpointId = found.find((checkpoint) => checkpoint.seq === seq)?.checkpointId;
  return checkpointId === undefined ? undefined : { checkpointId, epoch };
};
