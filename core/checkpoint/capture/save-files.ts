/** A checkpoint between two operations, so that whoever goes on with the work finds the files as they are now. */
import type { CheckpointAnswer } from '../../../contract/checkpoint-answers.ts';
import type { CheckpointInput } from '../../../contract/checkpoint-inputs.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { parkToolId } from '../../shared/ids.ts';
import type { SessionStore } from '../ports/stores.ts';
import { requireSession } from '../session/session-rules.ts';
import { messageAt } from './whose-work.ts';

interface SaveFilesDependencies {
  store: Pick<SessionStore, 'getSession' | 'getCheckpoint'>;
  random: () => string;
  checkpoint: (input: CheckpointInput, invocation: Invocation) => Promise<CheckpointAnswer>;
}

/** Belongs to the message, or to the last one whose work is there. Answers the checkpoint's id. */
export const createSaveFiles =
  ({ store, random, checkpoint }: SaveFilesDependencies) =>
  async (
    asked: { sessionId: string; messageId?: string | undefined },
    invocation: Invocation,
  ): Promise<string> => {
    const { sessionId } = asked;
    const session = await requireSession(store, sessionId);
    const messageId =
      asked.messageId ?? messageAt(await store.getCheckpoint(sessionId, session.headSeq), session);
    if (messageId === null) {
      throw new WalkbackError(
        'InvalidInput',
        `messageId: session "${sessionId}" has no message yet; name the one whose work this is.`,
      );
    }
    // Another one each time: the files may have changed since a call that did not come to its end.
    const toolExecutionId = parkToolId(random());
    const taken = await checkpoint({ sessionId, messageId, toolExecutionId, reason: 'parked' }, invocation);
    return taken.checkpointId;
  };
