/**
 * Shows what a rollback would do. Nothing is written into working files or tables, and the capture is not
 * indexed.
 */
import type { Busy, RollbackAnswer } from '../../../contract/checkpoint-answers.ts';
import type { RollbackInput } from '../../../contract/checkpoint-inputs.ts';
import { commandTimeout, type Invocation } from '../../shared/deadline.ts';
import { createDryCapture } from '../capture/capture.ts';
import type { Checkpoint, RepositoryState, RollbackJournal } from '../model.ts';
import type { SessionStore } from '../ports/stores.ts';
import { requireFree } from '../session/abandoned.ts';
import { busyOf, headSeqOf, type Place, sandboxOf } from '../session/place.ts';
import { findTarget, requireComplete } from '../timeline/targets.ts';
import { createBundleSources } from './bundle-sources.ts';
import { requestHash } from './request-hash.ts';
import { restoreError } from './restore-errors.ts';
import {
  bringMissing,
  planRestore,
  requireUndoable,
  restoreRequest,
  statesToBring,
  targetsOf,
} from './restore-plan.ts';
import type { RollbackDeps } from './rollback-attempt.ts';
import { rollbackResult } from './rollback-result.ts';

export const hashOf = (input: RollbackInput): string =>
  requestHash({
    messageId: input.messageId,
    checkpointId: input.checkpointId,
    sandboxId: input.sandboxId,
    filesOnly: input.filesOnly ?? false,
    allowPartial: input.allowPartial ?? false,
  });

const notFinished = ({ kind, requestId }: Busy): string =>
  `${kind} "${requestId}" is not finished; it is settled before this rollback begins, so the plan may change`;

export const chooseTarget = async (store: SessionStore, input: RollbackInput): Promise<Checkpoint> => {
  const target = await findTarget(store, input.sessionId, input);
  if (input.allowPartial !== true) await requireComplete(store, target);
  return target;
};

export const createRollbackPreview = (deps: RollbackDeps) => {
  const { store, sandboxes, repositories, clock } = deps;
  const dryCapture = createDryCapture(deps);
  const bundleSources = createBundleSources(deps);

  /** The plan of a request that may begin, whoever holds the timeline. */
  const plan = async (
    input: RollbackInput,
    place: Place,
    target: Checkpoint,
    invocation: Invocation,
  ): Promise<RollbackAnswer> => {
    const { session } = place;
    const [sandbox, head] = await Promise.all([
      sandboxes.open(sandboxOf(place)),
      findTarget(store, session.sessionId, {}, headSeqOf(place)),
    ]);
    const captured = await dryCapture(
      {
        session,
        sandbox,
        head,
        toolExecutionId: `walkback-plan-${hashOf(input).slice(0, 24)}`,
        messageId: head.messageId,
        reason: 'rollback',
        targets: targetsOf(target),
      },
      invocation,
    );
    requireUndoable(captured);
    const now = captured.repositories;
    const how = {
      requestId: input.requestId,
      filesOnly: input.filesOnly ?? false,
      dryRun: true,
      timeoutMs: commandTimeout(invocation, clock),
    };
    const tryRestore = async (wanted: readonly RepositoryState[]) => {
      const sources = await bundleSources(session.sessionId, wanted);
      const planned = planRestore({
        target: target.repositories,
        now,
        undo: now,
        skipped: target.skipped,
        sources,
      });
      const request = restoreRequest(session, how, planned.repositories);
      return { report: await repositories.restore(sandbox, request), warnings: planned.warnings };
    };
    const wanted = statesToBring(target.repositories, captured);
    const { report, warnings: planWarnings } = await bringMissing(target.repositories, wanted, tryRestore);
    if (report.outcome !== 'planned') throw restoreError(report);
    const tree = await store.listTree(session.sessionId);
    const warnings = [...planWarnings, ...report.warnings];
    return rollbackResult({
      status: 'PLANNED',
      journal: { epoch: session.epoch },
      target,
      undo: head,
      tree,
      report,
      warnings,
    });
  };

  /**
   * Answers a plan, whichever call holds the timeline. If another run left work half done, the plan looks
   * at it as it is and does not finish it. The plan of a request that was begun shows the rest of its way.
   */
  const preview = async (
    input: RollbackInput,
    place: Place,
    begun: RollbackJournal | undefined,
    invocation: Invocation,
  ): Promise<RollbackAnswer> => {
    const { sessionId } = place.session;
    const target =
      begun === undefined
        ? await chooseTarget(store, input)
        : await findTarget(store, sessionId, {}, begun.targetSeq);
    const busy = busyOf(place);
    const holder = busy?.requestId === begun?.requestId ? undefined : busy;
    if (holder !== undefined) requireFree(sessionId, holder, clock.now().getTime());
    const planned = await plan(input, place, target, invocation);
    return holder === undefined
      ? planned
      : { ...planned, warnings: [...planned.warnings, notFinished(holder)] };
  };

  return { plan, preview };
};
