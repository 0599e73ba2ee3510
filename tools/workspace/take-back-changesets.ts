/** Takes back what the merges of one call changed, the last one first. By key: the journals say what was applied. */
import type { MergeInput } from '../../contract/checkpoint-inputs.ts';
import { isOpen } from '../../core/checkpoint/attempt/rollback-state.ts';
import type { RollbackJournal } from '../../core/checkpoint/journals.ts';
import type { ToolCall } from '../../kit/define-tool.ts';
import { ToolRejected } from '../../kit/outcomes.ts';
import { isLeftBehind, keptIn, orPerson } from './taking-back.ts';
import { invocationOf, requestOf, type Uses } from './uses.ts';

/** Of the merges of one call, each has a request of its own. */
export const requestAt = (forwardKey: string, at: number): string =>
  at === 0 ? requestOf(forwardKey) : `${requestOf(forwardKey)}.${at}`;

const undoOf = (requestId: string): string => `${requestId}.undo`;

/** Its session was ended or moved on while it wrote, so nobody knows which files it changed. */
const givenUp = ({ sessionId, requestId, settled }: RollbackJournal): ToolRejected =>
  new ToolRejected(
    'RollbackIncomplete',
    `The merge ${requestId} into session ${sessionId} was given up while it wrote. ${settled?.message ?? ''}`.slice(
      0,
      1000,
    ),
  );

export const createTakeBack = ({ merge, revert, ports: { store } }: Uses) => {
  const takeBack = async (
    into: string,
    count: number,
    call: ToolCall,
    asked?: (at: number) => Omit<MergeInput, 'requestId'>,
  ): Promise<string | undefined> => {
    let last: string | undefined;
    for (let at = count - 1; at >= 0; at--) {
      const requestId = requestAt(call.forwardKey, at);
      const begun = await store.getRollback(into, requestId);
      if (begun === undefined) continue;
      if (begun.phase === 'failed') {
        if (begun.settled?.outcome === 'given-up') throw givenUp(begun);
        continue;
      }
      if (isOpen(begun) && asked !== undefined) {
        // It may have written: it is brought to its end first, so that there is one thing to take back.
        await merge({ ...asked(at), requestId }, invocationOf(call));
      }
      const done = await store.getRollback(into, requestId);
      const result = done?.phase === 'done' ? done.result : undefined;
      if (result === undefined) continue;
      const { checkpointId: merged, undoCheckpointId } = result;
      const undoing = { checkpointId: merged, requestId: undoOf(requestId) };
      if (await isLeftBehind(store, into, undoing)) continue;
      const reference = undoCheckpointId === null ? `It made ${merged}.` : keptIn(undoCheckpointId, into);
      const { checkpointId } = await orPerson({ store, sessionId: into, reference }, () =>
        revert(
          { sessionId: into, checkpointIds: [merged], requestId: undoing.requestId },
          invocationOf(call),
        ),
      );
      last = checkpointId;
    }
    return last;
  };

  /** Whether an earlier attempt of this call found a conflict, and began to take back what it had merged. */
  const isBegun = async (into: string, count: number, { forwardKey }: ToolCall): Promise<boolean> => {
    for (let at = 0; at < count - 1; at++) {
      const undo = await store.getRollback(into, undoOf(requestAt(forwardKey, at)));
      if (undo !== undefined) return true;
    }
    return false;
  };

  return { takeBack, isBegun };
};
