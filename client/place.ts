/** Where the timeline of a session stands, as this client knows it. Runs begin there; rollbacks move it. */
import type { CheckpointAnswer, TimelineAnswer } from '../contract/checkpoint-answers.ts';
import type { RequestOf } from '../contract/invoke.ts';
import type { CallOptions, Invoke } from './invoke.ts';

export interface KnownPosition {
  epoch: number;
  /** Number of the newest checkpoint that this client knows of. An answer with an older one is out of date. */
  seq: number;
  /**
   * The message of a tool that ran without a checkpoint before it. Only this client knows that its work is
   * there.
   */
  untold?: { messageId: string; epoch: number } | undefined;
}

export const timelinePosition = ({ session }: TimelineAnswer): KnownPosition => ({
  epoch: session.epoch,
  seq: session.seq,
});

/** Takes a checkpoint, and notes where the timeline stands after it. */
export const checkpointAt = async (
  place: KnownPosition,
  invoke: Invoke,
  request: RequestOf<'checkpoint'>,
  options?: CallOptions,
): Promise<CheckpointAnswer> => {
  const { untold, seq } = place;
  const known = untold !== undefined && untold.epoch === request.epoch && { messageId: untold.messageId };
  const answer = await invoke('checkpoint', { ...known, ...request }, options);
  if (answer.seq > seq && place.untold === untold) place.untold = undefined;
  place.seq = Math.max(place.seq, answer.seq);
  return answer;
};
