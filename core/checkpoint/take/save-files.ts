/**
 * Takes a checkpoint between two operations, so that whoever continues the work finds the files as they are
 * now.
 */
import type { CheckpointAnswer } from '../../../contract/checkpoint-answers.ts';
import type { CheckpointInput } from '../../../contract/checkpoint-inputs.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { parkToolId } from '../../shared/ids.ts';
import type { SessionStore } from '../ports/stores.ts';
import { conflictingRequest, requireSession } from '../session/session-rules.ts';
import { workSince } from '../timeline/whose-work.ts';

interface SaveFilesDependencies {
  store: Pick<SessionStore, 'getSession' | 'getCheckpoint' | 'findCheckpointByTool'>;
  random: () => string;
  checkpoint: (input: CheckpointInput, invocation: Invocation) => Promise<CheckpointAnswer>;
}

interface FilesToSave {
  sessionId: string;
  messageId?: string | undefined;
  requestId?: string | undefined;
}

/**
 * The checkpoint belongs to the given message, or else to the last message whose work is there. Answers its
 * id. The same request gets the same checkpoint, unless the session was taken back since: that checkpoint
 * then does not hold what is there now.
 */
export const createSaveFiles =
  ({ store, random, checkpoint }: SaveFilesDependencies) =>
  async (
    { sessionId, messageId: wanted, requestId }: FilesToSave,
    invocation: Invocation,
  ): Promise<string> => {
    const session = await requireSession(store, sessionId);
    // Without a request id, each call takes a new checkpoint: the files may have changed since a call that
    // did not finish.
    const toolExecutionId = parkToolId(requestId ?? random());
    if (requestId !== undefined) {
      const stored = await store.findCheckpointByTool(sessionId, toolExecutionId);
      const isOther = stored?.epoch !== session.epoch || (wanted ?? stored.messageId) !== stored.messageId;
      if (stored !== undefined && isOther) throw conflictingRequest(requestId);
      if (stored !== undefined) return stored.checkpointId;
    }
    const head = await store.getCheckpoint(sessionId, session.headSeq);
    if (wanted === undefined && workSince(head, session).messageId === null) {
      throw new WalkbackError(
        'InvalidInput',
        `messageId: session "${sessionId}" has no message yet; name the one whose work this is.`,
      );
    }
    const input = { sessionId, messageId: wanted, toolExecutionId, reason: 'parked' };
    const taken = await checkpoint(input, invocation);
    return taken.checkpointId;
  };
