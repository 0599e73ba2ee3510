/** Composes the state that a rollback is to reach, and makes a checkpoint of it (W4). */

import { firstLines, firstThatFit } from '../../shared/bounded.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { composedToolId } from '../../shared/ids.ts';
import { createRollbackJournal } from '../attempt/rollback-journal.ts';
import type { CaptureDeps } from '../capture/capture.ts';
import type { Captured } from '../capture/capture-report.ts';
import { type Composed, createCompose } from '../compose/compose.ts';
import { requireNoConflicts } from '../compose/conflicts.ts';
import { enteredIn } from '../compose/entered.ts';
import type { RollbackJournal } from '../journals.ts';
import type { Checkpoint, Composition, RepositoryState } from '../model.ts';
import type { ExecutionAdapter } from '../ports/sandbox.ts';
import type { WorkTimeline } from '../session/place.ts';
import { findTarget } from '../timeline/targets.ts';
import { COMPOSED_REASON } from '../timeline/whose-work.ts';

/** Room in the checkpoint's item beside the repositories. */
const TOLD = { count: 200, bytes: 48 * 1024 };

const isSameState = (a: RepositoryState | undefined, b: RepositoryState): boolean =>
  a?.state === b.state && (b.state !== 'captured' || (a.tree === b.tree && a.meta === b.meta));

const isSame = (before: Checkpoint | undefined, states: readonly RepositoryState[]): before is Checkpoint =>
  before !== undefined &&
  before.repositories.length === states.length &&
  states.every((state) =>
    isSameState(
      before.repositories.find(({ path }) => path === state.path),
      state,
    ),
  );

/** Undefined when a merge took only some paths: the next merge must look at that work again. */
const secondParent = (composition: Composition): Checkpoint['mergedFrom'] =>
  composition.kind === 'merge' && composition.paths === undefined
    ? { sessionId: composition.from.sessionId, seq: composition.from.seq }
    : undefined;

/** Undefined when a revert was limited to some paths: it leaves the rest of the checkpoint's work. */
const takenBack = (composition: Composition): Checkpoint['takesBack'] =>
  composition.kind === 'revert' && composition.paths === undefined
    ? composition.changes.flatMap(({ afterSeq }) => afterSeq ?? [])
    : undefined;

const overtaken = (requestId: string): WalkbackError =>
  new WalkbackError('RollbackInProgress', `Another call works on request "${requestId}". Call again.`, {
    retryable: true,
    details: { requestId },
  });

/** Throws for conflicts, and for a state that could not be stored. */
export const requireComposed = (composed: Composed, composition: Composition): void => {
  requireNoConflicts(composed, composition);
  const lost = composed.repositories.filter(({ state }) => state === 'failed');
  if (lost.length === 0) return;
  throw new WalkbackError(
    'CaptureFailed',
    `The merged state of ${lost.map(({ path }) => path).join(', ')} could not be stored. Nothing was changed.`,
  );
};

export const createComposeTarget = (deps: CaptureDeps) => {
  const compose = createCompose(deps);
  const { noteTarget } = createRollbackJournal(deps);

  /**
   * An earlier composed state may have brought a repository into a plain directory. Captures since then take
   * that directory for a repository. Only the first capture of the request shows that there was no
   * repository. Answers such paths.
   */
  const enteredSince = async (
    composed: Checkpoint | undefined,
    { sessionId, undoSeq }: RollbackJournal,
    now: Checkpoint,
  ): Promise<string[]> => {
    if (composed === undefined || undoSeq === now.seq) return [];
    const captured = await findTarget(deps.store, sessionId, {}, undoSeq);
    return enteredIn({ captured, composed }, now);
  };

  return async (
    attempt: {
      place: WorkTimeline;
      target: Checkpoint | undefined;
      sandbox: ExecutionAdapter;
      invocation: Invocation;
      /** The state composed from this same capture of now, when that was done before the request began. */
      composed?: Composed | undefined;
    },
    journal: RollbackJournal,
    now: Checkpoint,
    last: WorkTimeline,
  ): Promise<{ journal: RollbackJournal; target: Checkpoint; place: WorkTimeline }> => {
    const { composition, requestId } = journal;
    if (composition === undefined) throw new Error('There is nothing to compose.');
    const { place, sandbox, invocation } = attempt;
    const toolExecutionId = composedToolId(requestId, journal.captures);
    const composed =
      attempt.composed ??
      (await compose(
        {
          session: place.session,
          sandbox,
          composition,
          now,
          entered: await enteredSince(attempt.target, journal, now),
          toolExecutionId,
          messageId: now.messageId,
          isStored: true,
        },
        invocation,
      ));
    requireComposed(composed, composition);
    if (isSame(attempt.target, composed.repositories))
      return { journal, target: attempt.target, place: last };
    const captured: Captured = {
      repositories: composed.repositories,
      failures: now.failures,
      skipped: now.skipped,
      complete: now.complete,
      missingTargets: [],
      late: [],
      ...(composed.content !== undefined && { content: composed.content }),
    };
    const noted = await noteTarget(journal, last, {
      captured,
      parentSeq: now.seq,
      parent: now,
      messageId: now.messageId,
      messageOrder: now.messageOrder,
      unowned: true,
      toolExecutionId,
      reason: COMPOSED_REASON[composition.kind],
      mergedFrom: secondParent(composition),
      takesBack: takenBack(composition),
      composed: {
        conflicts: firstThatFit(composed.conflicts, TOLD),
        warnings: firstLines(composed.warnings, TOLD, (left) => `${left} more warnings`),
      },
    });
    if (noted === undefined) throw overtaken(requestId);
    return { journal: noted.journal, target: noted.checkpoint, place: noted.place };
  };
};
