/** Takes back what the merges of one call changed, the last one first. By key: the journals say what was applied. */
import type { MergeInput } from '../../contract/checkpoint-inputs.ts';
import { isOpen } from '../../core/checkpoint/rollback/rollback-phase.ts';
import type { ToolCall } from '../../kit/define-tool.ts';
import { invocationOf, requestOf, type Uses } from './uses.ts';

/** Of the merges of one call, each has a request of its own. */
export const requestAt = (forwardKey: string, at: number): string =>
  at === 0 ? requestOf(forwardKey) : `${requestOf(forwardKey)}.${at}`;

const undoOf = (requestId: string): string => `${requestId}.undo`;

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
      if (begun === undefined || begun.phase === 'failed') continue;
      if (isOpen(begun) && asked !== undefined) {
        // It may have written: it is brought to its end first, so that there is one thing to take back.
        await merge({ ...asked(at), requestId }, invocationOf(call));
      }
      const done = await store.getRollback(into, requestId);
      const merged = done?.phase === 'done' ? done.result?.checkpointId : undefined;
      if (merged === undefined) continue;
      const { checkpointId } = await revert(
        { sessionId: into, checkpointIds: [merged], requestId: undoOf(requestId) },
        invocationOf(call),
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

  return Object.assign(takeBack, { isBegun });
};
