/** Describes the checkpoints that may have broken it, and those that were tried, for the answer. */
import type { BisectSessionAnswer, Suspect, TriedCheckpoint } from '../../../contract/bisect.ts';
import { contentOfCall } from '../content/describe-changes.ts';
import type { CheckpointRef, Message } from '../model.ts';
import type { Probe } from '../ports/searches.ts';
import type { SessionStore } from '../ports/stores.ts';
import type { Point } from './line.ts';

/** A checkpoint that something came with, and the one that stood there before it. */
export interface Change {
  point: Point;
  /** As the line has them: the one right before, not only the last that differs. */
  before: CheckpointRef & { checkpointId: string };
}

type Store = Pick<SessionStore, 'getCheckpoint' | 'listMessages'>;

export const createSuspects = (store: Store) => {
  const messages = new Map<string, Promise<Map<string, Message>>>();
  const messagesOf = (sessionId: string) => {
    const reading =
      messages.get(sessionId) ??
      store.listMessages(sessionId).then((all) => new Map(all.map((one) => [one.messageId, one])));
    messages.set(sessionId, reading);
    return reading;
  };

  return async ({ point, before }: Change): Promise<Suspect> => {
    const { sessionId, seq, checkpointId, unowned, reason, createdAt } = point;
    const messageId = unowned === true ? null : point.messageId;
    const [checkpoint, parent, known] = await Promise.all([
      store.getCheckpoint(sessionId, seq),
      store.getCheckpoint(before.sessionId, before.seq),
      messagesOf(sessionId),
    ]);
    const tool = checkpoint && contentOfCall(checkpoint, parent)?.tool;
    const message = messageId === null ? undefined : known.get(messageId);
    return {
      sessionId,
      checkpointId,
      previousCheckpointId: before.checkpointId,
      previousSessionId: before.sessionId,
      messageId,
      ...(message?.title !== undefined && { title: message.title }),
      ...(message?.role !== undefined && { role: message.role }),
      ...(tool && {
        madeBy: {
          name: tool.name,
          ...(tool.input !== undefined && { input: tool.input }),
          truncated: tool.isCut ?? false,
        },
      }),
      reason,
      createdAt,
    };
  };
};

export const triedOf = ({ sessionId, checkpointId, result }: Probe): TriedCheckpoint[] => {
  if (result === undefined) return [];
  const { output: _output, isCut: _isCut, ...rest } = result;
  return [{ sessionId, checkpointId, ...rest }];
};

export const triedWithOutput = (
  { sessionId, checkpointId }: Point,
  result: NonNullable<Probe['result']>,
): BisectSessionAnswer['good'] => ({
  sessionId,
  checkpointId,
  ...result,
  output: result.output ?? '',
  isCut: result.isCut ?? false,
});
