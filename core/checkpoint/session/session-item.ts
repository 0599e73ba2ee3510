/** Builds the items of a session and of its messages. Pure: the same input gives the same items. */
import type { LineCount } from '../../../contract/answer-fields.ts';
import type { Clock } from '../../shared/surroundings.ts';
import type { Checkpoint, Message, RepositoryState, SaidMessage, Session } from '../model.ts';
import { expiryOf } from './retention.ts';

/** Those that are there, also ones that could not be captured. */
export const countPresent = (states: readonly RepositoryState[]): number =>
  states.filter(({ state }) => state !== 'absent').length;

/** A message after one of its checkpoints was taken. */
export const moveMessage = (
  session: Session,
  known: Message | undefined,
  messageId: string,
  { seq, id }: { seq: number; id: string },
  said?: SaidMessage,
): Message => ({
  ...(known ?? { messageId, order: session.messageCount + 1, firstSeq: seq }),
  lastSeq: seq,
  lastId: id,
  ...(said && { role: said.role }),
  ...(said?.title !== undefined && { title: said.title }),
  ...(said?.text !== undefined && { textSeq: seq }),
});

/**
 * The lines that a checkpoint changed since its parent, in all repositories. Files whose lines were not
 * counted are left out.
 */
export const linesOf = ({ content }: Pick<Checkpoint, 'content'>): LineCount => {
  const sum = { added: 0, deleted: 0 };
  for (const { added, deleted } of content?.changes ?? []) {
    sum.added += added ?? 0;
    sum.deleted += deleted ?? 0;
  }
  return sum;
};

/** The session's line count with those of one more checkpoint. */
export const linesWith = ({ lines }: Session, checkpoint: Checkpoint): LineCount => {
  const { added, deleted } = linesOf(checkpoint);
  return { added: lines.added + added, deleted: lines.deleted + deleted };
};

/** A session after one more write. Version, time and expiry always change together. */
export const touch = (session: Session, change: Partial<Session>, clock: Clock): Session => {
  const { isLine, ...moved } = { ...session, ...change };
  return {
    ...moved,
    // A timeline that a rollback or a checkpoint beside the head has left is never a line again.
    ...(isLine && moved.headSeq === moved.seq && { isLine }),
    version: session.version + 1,
    updatedAt: clock.now().toISOString(),
    expiresAt: Math.max(session.expiresAt, expiryOf(session, clock)),
  };
};
