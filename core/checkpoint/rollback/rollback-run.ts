/**
 * Drives one begun rollback to its end, whoever asks: the caller that began it, the same request after a crash, or
 * another operation that finds it abandoned.
 *
 * C3: nothing is written before the capture of "now" is committed. C1: the journal ends with every repository at
 * the target (`done`) or at the undo capture (`failed`); when neither can be reached it stays open and busy.
 */
import type { RollbackAnswer } from '../../../contract/checkpoint-answers.ts';
import { commandTimeout, type Invocation } from '../../shared/deadline.ts';
import { isWalkbackError, WalkbackError } from '../../shared/errors.ts';
import { rollbackToolId } from '../../shared/ids.ts';
import { type CaptureDeps, createCapture } from '../capture/capture.ts';
import type { Captured } from '../capture/capture-report.ts';
import { createEarlyBundles, type EarlyBundles, servesStates } from '../capture/early-bundles.ts';
import type { Checkpoint, RepositoryState, RollbackJournal } from '../model.ts';
import type { RestoreReport } from '../ports/restore.ts';
import type { ExecutionAdapter, Sandboxes } from '../ports/sandbox.ts';
import { findPlace, headSeqOf, type Place } from '../session/place.ts';
import { keepCheckpoint } from '../session/retention.ts';
import { findTarget } from '../timeline/targets.ts';
import { createBundleSources } from './bundle-sources.ts';
import { isInterrupted, onlyChanged, onlyConflicts, restoreError, unfinished } from './restore-errors.ts';
import {
  bringMissing,
  notAtTarget,
  planRestore,
  requireUndoable,
  restoreRequest,
  statesToBring,
  targetsOf,
} from './restore-plan.ts';
import { copyOf, createRollbackJournal, endedAnswer } from './rollback-journal.ts';
import { rollbackResult } from './rollback-result.ts';

/** Fresh captures before a sandbox that keeps changing, or a session that keeps being written, is given up. */
const MAX_ATTEMPTS = 5;

export type RollbackDeps = CaptureDeps & { sandboxes: Sandboxes };

/** What one attempt works with. `mixed`: an earlier run may have written part of the target. */
interface Attempt {
  journal: RollbackJournal;
  place: Place;
  target: Checkpoint;
  head: Checkpoint | undefined;
  sandbox: ExecutionAdapter;
  mixed: boolean;
  invocation: Invocation;
}

/** The attempt after its capture is committed. */
interface Noted extends Attempt {
  now: Checkpoint;
  undo: Checkpoint;
  early: EarlyBundles | undefined;
}

const changedError = (): WalkbackError =>
  new WalkbackError(
    'SandboxChanged',
    'The sandbox kept changing while it was to be rolled back. Nothing was changed. Stop what writes into it, then try again with a new requestId.',
  );

export const createRollbackRun = (deps: RollbackDeps) => {
  const { store, sandboxes, repositories, clock, log } = deps;
  const capture = createCapture(deps);
  const bundleSources = createBundleSources(deps);
  const bringEarly = createEarlyBundles(deps);
  const { finish, fail, hold, letGo, noteCapture } = createRollbackJournal(deps);

  const captureNow = async ({ journal, place, target, head, sandbox, invocation }: Attempt) => {
    let early: EarlyBundles | undefined;
    const captured = await capture(
      {
        session: place.session,
        sandbox,
        head,
        toolExecutionId: rollbackToolId(journal.requestId, journal.captures + 1),
        messageId: head?.messageId ?? null,
        reason: 'rollback',
        targets: targetsOf(target),
        beside: async (outline) => {
          try {
            early = await bringEarly(place.session, sandbox, target.repositories, outline);
          } catch (error) {
            // The restore tries again, where it is known what each failure means.
            log.warn('bundles not brought early', { reason: String(error) });
          }
        },
      },
      invocation,
    );
    requireUndoable(captured);
    return { captured, early };
  };

  const restoreTo = async (to: Checkpoint, attempt: Noted, wanted: readonly RepositoryState[]) => {
    const { journal, place, now, undo, sandbox, invocation } = attempt;
    const isTarget = to === attempt.target;
    const early =
      isTarget && attempt.early !== undefined && servesStates(attempt.early, wanted)
        ? attempt.early
        : undefined;
    const sources = early?.sources ?? (await bundleSources(journal.sessionId, wanted));
    const plan = planRestore({
      target: to.repositories,
      now: now.repositories,
      undo: undo.repositories,
      sources,
    });
    const { requestId, filesOnly } = journal;
    const timeoutMs = commandTimeout(invocation, clock);
    const request = restoreRequest(
      place.session,
      {
        requestId,
        filesOnly,
        dryRun: false,
        targetTag: to.toolExecutionId,
        timeoutMs,
        carried: early?.place,
      },
      plan.repositories,
    );
    const report = await repositories.restore(sandbox, request);
    const astray = report.outcome === 'applied' ? notAtTarget(plan.repositories, report) : [];
    if (astray.length > 0) throw unfinished(requestId, `${astray.join(', ')} did not arrive at the target.`);
    return { report, warnings: [...plan.warnings, ...report.warnings] };
  };

  /** The target can not be reached. Back to undo first where an earlier run may have written something. */
  const refuse = async (attempt: Noted, why: WalkbackError): Promise<RollbackAnswer> => {
    const { journal, now, undo } = attempt;
    if (!attempt.mixed) return fail(journal, why, now.seq);
    const all = undo.repositories.filter(({ state }) => state === 'captured');
    const back = await restoreTo(undo, attempt, all).catch((error: unknown) => {
      if (!isWalkbackError(error) || error.retryable) throw error;
      log.warn('rollback not put back', { requestId: journal.requestId, reason: error.message });
    });
    if (back?.report.outcome === 'applied') return fail(journal, why, undo.seq);
    throw unfinished(journal.requestId, why.message, why);
  };

  /** The restore was never begun in the sandbox: what the same request would only meet again ends it. */
  const notBegun = async (attempt: Noted, error: unknown): Promise<RollbackAnswer> => {
    const { journal } = attempt;
    if (!isWalkbackError(error) || error.retryable) throw error;
    const isOurs = (await store.getRollback(journal.sessionId, journal.requestId))?.phase === 'captured';
    if (!isOurs) throw error;
    // Without a sandbox there is nothing left that could stand between two states.
    return error.name === 'SandboxNotFound' ? fail(journal, error) : refuse(attempt, error);
  };

  const conclude = async (
    attempt: Noted,
    report: RestoreReport,
    warnings: string[],
  ): Promise<RollbackAnswer | undefined> => {
    const { journal, target, undo } = attempt;
    // Never the checkpoint's fault: the journal stays open for the same request.
    if (isInterrupted(report)) throw restoreError(report);
    switch (report.outcome) {
      case 'applied': {
        await keepCheckpoint(store, attempt.place.session, target, clock);
        const tree = await store.listTree(journal.sessionId);
        const result = rollbackResult({ status: 'APPLIED', journal, target, undo, tree, report, warnings });
        log.info('rollback', { requestId: journal.requestId, checkpointId: target.checkpointId });
        return finish(journal, result, target.seq);
      }
      case 'refused':
        // The sandbox moved under us, or another run of the same request was faster: look again.
        return onlyChanged(report) ? undefined : refuse(attempt, restoreError(report));
      case 'reverted':
        return fail(journal, restoreError(report), undo.seq);
      case 'planned':
      case 'broken':
        throw unfinished(journal.requestId, restoreError(report).message);
    }
  };

  /** Undefined: raced, try again from the start. */
  const apply = async (
    attempt: Attempt,
    { captured, early }: { captured: Captured; early: EarlyBundles | undefined },
  ): Promise<RollbackAnswer | undefined> => {
    const { place, target } = attempt;
    const committed = await noteCapture(attempt.journal, place, attempt.head, captured);
    if (committed === undefined) return undefined;
    const { journal, checkpoint: now } = committed;
    const isUndo = journal.undoSeq === now.seq;
    const undo = isUndo ? now : await findTarget(store, journal.sessionId, {}, journal.undoSeq);
    const noted: Noted = { ...attempt, journal, now, undo, early };
    const wanted = statesToBring(target.repositories, captured);
    let restored: Awaited<ReturnType<typeof restoreTo>>;
    try {
      restored = await bringMissing(target.repositories, wanted, (states) =>
        restoreTo(target, noted, states),
      );
    } catch (error) {
      return notBegun(noted, error);
    }
    const { report, warnings } = restored;
    // The capture could not see what the target would overwrite; now that its objects are there, the next one does.
    const isSeenNext =
      report.outcome === 'refused' && captured.missingTargets.length > 0 && onlyConflicts(report);
    return isSeenNext ? undefined : conclude(noted, report, warnings);
  };

  /** Before this run wrote anything: what ends the rollback for good, and what only stops this run. */
  const giveUp = (journal: RollbackJournal, mixed: boolean, error: unknown): Promise<RollbackAnswer> => {
    if (!isWalkbackError(error) || error.retryable) throw error;
    // Without a sandbox there is nothing left that could stand between two states.
    if (!mixed || error.name === 'SandboxNotFound') return fail(journal, error);
    throw unfinished(journal.requestId, error.message, error);
  };

  const drive = async (
    sessionId: string,
    requestId: string,
    invocation: Invocation,
  ): Promise<RollbackAnswer> => {
    let mixed: boolean | undefined;
    for (let round = 0; round < MAX_ATTEMPTS; round++) {
      const journal = await store.getRollback(sessionId, requestId);
      if (journal === undefined) throw unfinished(requestId, 'its journal is gone.');
      const answer = endedAnswer(journal);
      if (answer !== undefined) return answer;
      mixed ??= journal.captures > 0;

      const found = await findPlace(store, sessionId, copyOf(journal));
      const place = await hold(journal, found, invocation);
      if (place === 'raced') continue;
      if (place === 'lost') return fail(journal, changedError());

      let attempt: Attempt;
      let taken: Awaited<ReturnType<typeof captureNow>>;
      try {
        const sandbox = await sandboxes.open(journal.sandboxId);
        const target = await findTarget(store, sessionId, {}, journal.targetSeq);
        const head = await store.getCheckpoint(sessionId, headSeqOf(place));
        attempt = { journal, place, target, head, sandbox, mixed, invocation };
        taken = await captureNow(attempt);
      } catch (error) {
        return giveUp(journal, mixed, error);
      }
      const result = await apply(attempt, taken);
      if (result !== undefined) return result;
      await clock.sleep(20 * 2 ** round);
    }
    const journal = await store.getRollback(sessionId, requestId);
    if (journal !== undefined && mixed === false) return fail(journal, changedError());
    throw unfinished(requestId, changedError().message);
  };

  return async (sessionId: string, requestId: string, invocation: Invocation): Promise<RollbackAnswer> => {
    try {
      return await drive(sessionId, requestId, invocation);
    } catch (error) {
      if (isWalkbackError(error)) await letGo(sessionId, requestId, invocation);
      throw error;
    }
  };
};
