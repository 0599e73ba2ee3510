/** The captures of now that a rollback makes: one for each attempt, and one before a request that composes begins. */
import type { Invocation } from '../../shared/deadline.ts';
import { composedToolId, rollbackToolId } from '../../shared/ids.ts';
import type { RollbackDeps } from '../attempt/rollback-journal.ts';
import { nextCapture } from '../attempt/rollback-state.ts';
import { createCapture } from '../capture/capture.ts';
import type { Captured } from '../capture/capture-report.ts';
import { type Composed, createCompose } from '../compose/compose.ts';
import type { RollbackJournal } from '../journals.ts';
import type { Checkpoint, Composition } from '../model.ts';
import type { ExecutionAdapter } from '../ports/sandbox.ts';
import { createEarlyBundles, type EarlyBundles } from '../restore/early-bundles.ts';
import { requireUndoable } from '../restore/restore-plan.ts';
import { headSeqOf, sandboxOf, type WorkTimeline } from '../session/place.ts';
import { findTarget } from '../timeline/targets.ts';
import { requireComposed } from './compose-target.ts';

/** The inputs of one attempt. `mixed`: an earlier run may have written part of the target. */
export interface Attempt {
  journal: RollbackJournal;
  place: WorkTimeline;
  /** Undefined until the state to reach is composed. */
  target: Checkpoint | undefined;
  head: Checkpoint | undefined;
  sandbox: ExecutionAdapter;
  mixed: boolean;
  /** Number of earlier captures of "now"; starts at 0. */
  round: number;
  invocation: Invocation;
  /** The state to reach, when it was composed from this attempt's capture before the rollback began. */
  composed?: Composed | undefined;
}

export interface CaptureResult {
  captured: Captured;
  early: EarlyBundles | undefined;
}

export const createCaptureNow = (deps: RollbackDeps) => {
  const { log } = deps;
  const capture = createCapture(deps);
  const bringEarly = createEarlyBundles(deps);

  return async (attempt: Attempt): Promise<CaptureResult> => {
    const { place, target, sandbox, invocation } = attempt;
    let early: EarlyBundles | undefined;
    const captured = await capture(
      {
        ...nextCapture(attempt),
        defersLinks: true,
        meanwhile: async (outline) => {
          if (target === undefined) return;
          try {
            early = await bringEarly(place.session, sandbox, target.repositories, outline);
          } catch (error) {
            // This failure is not final: the restore brings the bundles again, and handles each kind of
            // failure.
            log.warn('bundles not brought early', { reason: String(error) });
          }
        },
      },
      invocation,
    );
    requireUndoable(captured);
    return { captured, early };
  };
};

/** The first capture of a request that composes, made before the request began, and what was composed from it. */
export interface Prepared {
  headSeq: number;
  captured: Captured;
  composed: Composed;
}

/**
 * Captures now and composes the state to reach before a request begins. So conflicts are found before the
 * epoch moves (W3), and the request need not capture and compose again. What is made here is stored like any
 * capture, and no checkpoint names it yet (C1).
 *
 * It stands for the first capture of the request (W4). The head is the same, because the request begins on
 * the version of the session that was read before. Whether the sandbox still is as captured is checked by the
 * restore under its lock, as for every capture. In doubt, the request looks again.
 */
export const createPrepare = (deps: RollbackDeps) => {
  const capture = createCapture(deps);
  const compose = createCompose(deps);

  /** Throws when the composition would end in conflicts. */
  return async (
    requestId: string,
    place: WorkTimeline,
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
