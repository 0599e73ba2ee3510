/**
 * Captures now and composes the state to reach before a request begins. So conflicts are found before the
 * epoch moves (W3), and the request need not capture and compose again. What is made here is stored like any
 * capture, and no checkpoint names it yet (C1).
 *
 * It stands for the first capture of the request (W4). The head is the same, because the request begins on
 * the version of the session that was read before. Whether the sandbox still is as captured is checked by the
 * restore under its lock, as for every capture. In doubt, the request looks again.
 */
import type { Invocation } from '../../shared/deadline.ts';
import { composedToolId, rollbackToolId } from '../../shared/ids.ts';
import { createCapture } from '../capture/capture.ts';
import type { Captured } from '../capture/capture-report.ts';
import { type Composed, createCompose } from '../compose/compose.ts';
import type { Composition } from '../model.ts';
import type { Sandboxes } from '../ports/sandbox.ts';
import { requireUndoable } from '../restore/restore-plan.ts';
import { headSeqOf, type Place, sandboxOf } from '../session/place.ts';
import { findTarget } from '../timeline/targets.ts';
import { requireComposed } from './compose-target.ts';

/** The first capture of a request that composes, made before the request began, and what was composed from it. */
export interface Prepared {
  headSeq: number;
  captured: Captured;
  composed: Composed;
}

export const createPrepare = (deps: Parameters<typeof createCompose>[0] & { sandboxes: Sandboxes }) => {
  const capture = createCapture(deps);
  const compose = createCompose(deps);

  /** Throws when the composition would end in conflicts. */
  return async (
    requestId: string,
    place: Place,
    composition: Composition,
    invocation: Invocation,
  ): Promise<Prepared> => {
    const { session } = place;
    const headSeq = headSeqOf(place);
    const [sandbox, head] = await Promise.all([
      deps.sandboxes.open(sandboxOf(place)),
      findTarget(deps.store, session.sessionId, {}, headSeq),
    ]);
    const { messageId } = head;
    const toolExecutionId = rollbackToolId(requestId, 1);
    const captured = await capture(
      { session, sandbox, head, toolExecutionId, messageId, reason: 'rollback', targets: [] },
      invocation,
    );
    requireUndoable(captured);
    const composed = await compose(
      {
        session,
        sandbox,
        composition,
        now: { repositories: captured.repositories, toolExecutionId },
        toolExecutionId: composedToolId(requestId, 1),
        messageId,
        isStored: true,
      },
      invocation,
    );
    requireComposed(composed, composition);
    return { headSeq, captured, composed };
  };
};
