/** Where the timeline of a session stands, as this client knows it. Runs begin there; rollbacks move it. */
import type { TimelineAnswer } from '../contract/checkpoint-answers.ts';

export interface Place {
  epoch: number;
  /** Of the newest checkpoint that this client has heard of. An answer of an older one is not of now. */
  seq: number;
  /** The last message whose work is in the repositories; undefined: none is. */
  messageId: string | undefined;
}

export const placeOf = ({ session, messages }: TimelineAnswer): Place => {
  const standing = messages.filter(({ discarded }) => !discarded);
  const last = standing.toSorted((a, b) => b.order - a.order)[0];
  return { epoch: session.epoch, seq: session.seq, messageId: last?.messageId };
};
