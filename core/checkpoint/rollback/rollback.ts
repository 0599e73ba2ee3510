/**
 * Rolls every repository of a session (or of one review copy) back to a checkpoint, by `requestId`. This
 * file resolves the request and begins the rollback. C9: the epoch goes up in the transaction that creates
 * the journal.
 */

import type { Busy, RollbackAnswer } from '../../../contract/checkpoint-answers.ts';
import type { RollbackInput } from '../../../contract/checkpoint-inputs.ts';
import { commandTimeout, type Invocation } from '../../shared/deadline.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { RACE, retrying } from '../../shared/retry.ts';
import { createDryCapture } from '../capture/capture.ts';
import type { Checkpoint, RepositoryState, RollbackJournal } from '../model.ts';
import { createRecovery, requireFree } from '../session/abandoned.ts';
import {
  busyOf,
  findPlace,
  headSeqOf,
  movePlace,
  type Place,
  sandboxOf,
  settledBy,
} from '../session/place.ts';
import { expiryOf } from '../session/retention.ts';
import { conflictingRequest, requireActive, withSandboxAdvice } from '../session/session-rules.ts';
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
import { endedAnswer } from './rollback-phase.ts';
import { rollbackResult } from './rollback-result.ts';
import { createRollbackRun } from './rollback-run.ts';
import { createTargetBundles } from './target-bundles.ts';

const hashOf = (input: RollbackInput): string =>
  requestHash({
    messageId: input.messageId,
    checkpointId: input.checkpointId,
    sandboxId: input.sandboxId,
    filesOnly: input.filesOnly ?? false,
    allowPartial: input.allowPartial ?? false,
  });

const notFinished = ({ kind, requestId }: Busy): string =>
  `${kind} "${requestId}" is not finished; it is settled before this rollback begins, so the plan may change`;

export const createRollback = (deps: RollbackDeps) => {
  const { store, sandboxes, repositories, clock } = deps;
  const run = createRollbackRun(deps);
  const settleAbandoned = createRecovery(deps);
  const dryCapture = createDryCapture(deps);
  const bundleSources = createBundleSources(deps);
  const damageOf = createTargetBundles(deps);

  const chooseTarget = async (input: RollbackInput): Promise<Checkpoint> => {
    const target = await findTarget(store, input.sessionId, input);
    if (input.allowPartial !== true) await requireComplete(store, target);
    return target;
  };

  const begin = async (input: RollbackInput, place: Place, target: Checkpoint, invocation: Invocation) => {
    const { session, copy } = place;
    const now = clock.now().toISOString();
    const detached = copy !== undefined;
    const epoch = detached ? session.epoch : session.epoch + 1;
    const journal: RollbackJournal = {
      sessionId: session.sessionId,
      requestId: input.requestId,
      requestHash: hashOf(input),
      phase: 'started',
      epoch,
      sandboxId: sandboxOf(place),
      detached,
      filesOnly: input.filesOnly ?? false,
      allowPartial: input.allowPartial ?? false,
      targetSeq: target.seq,
      captures: 0,
      notesWriting: true,
      startedAt: now,
      updatedAt: now,
      expiresAt: expiryOf(session, clock),
    };
    const busy = { kind: 'rollback', requestId: input.requestId, untilMs: invocation.deadlineMs } as const;
    return store.beginRollback(journal, movePlace(place, { busy, epoch }, clock));
  };

  /**
   * Shows the effects of a rollback. Nothing is written into working files or tables, and the capture is
   * not indexed.
   */
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
        ? await chooseTarget(input)
        : await findTarget(store, sessionId, {}, begun.targetSeq);
    const busy = busyOf(place);
    const holder = busy?.requestId === begun?.requestId ? undefined : busy;
    if (holder !== undefined) requireFree(sessionId, holder, clock.now().getTime());
    const planned = await plan(input, place, target, invocation);
    return holder === undefined
      ? planned
      : { ...planned, warnings: [...planned.warnings, notFinished(holder)] };
  };

  /** An answer, or undefined when the timeline moved and everything must be read again. */
  const attempt = async (
    input: RollbackInput,
    invocation: Invocation,
  ): Promise<RollbackAnswer | undefined> => {
    const { sessionId, requestId } = input;
    const journal = await store.getRollback(sessionId, requestId);
    if (journal !== undefined && journal.requestHash !== hashOf(input)) throw conflictingRequest(requestId);
    const ended = journal === undefined ? undefined : endedAnswer(journal);
    if (ended !== undefined) return ended;
    if (journal !== undefined && input.dryRun !== true) return run(sessionId, requestId, invocation);
    const place = await findPlace(store, sessionId, input.sandboxId);
    if (place.copy === undefined) requireActive(place.session);
    if (input.dryRun === true) {
      const look = () => preview(input, place, journal, invocation);
      return withSandboxAdvice(place.session, look, sandboxOf(place));
    }
    const target = await chooseTarget(input);
    if (busyOf(place) !== undefined) {
      await settleAbandoned(place, settledBy('rollback', requestId), invocation);
      return undefined;
    }
    const work = async () => {
      // Finds out that the sandbox or a bundle is gone before the epoch moves.
      const [damage] = await Promise.all([
        damageOf(target, sandboxOf(place), headSeqOf(place)),
        sandboxes.open(sandboxOf(place), { fresh: true }),
      ]);
      // The sandbox may still have objects that the store has lost. If it does not, the plan throws the
      // problem.
      if (damage !== undefined) await plan(input, place, target, invocation);
      const begun = await begin(input, place, target, invocation);
      return begun.written ? run(sessionId, requestId, invocation) : undefined;
    };
    return withSandboxAdvice(place.session, work, sandboxOf(place));
  };

  return async (input: RollbackInput, invocation: Invocation): Promise<RollbackAnswer> => {
    const result = await retrying(RACE, clock, () => attempt(input, invocation));
    if (result !== undefined) return result;
    throw new WalkbackError(
      'Throttled',
      `Session "${input.sessionId}" is being written by others all the time; the rollback was not begun. Call again.`,
      { retryable: true, details: { sessionId: input.sessionId } },
    );
  };
};
