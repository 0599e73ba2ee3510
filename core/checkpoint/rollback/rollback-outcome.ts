/** The restore of one attempt, and how the rollback goes on after it: it ends, it looks again, or it stays open. */

import type { RollbackAnswer } from '../../../contract/rollback-answers.ts';
import { commandTimeout } from '../../shared/deadline.ts';
import { isWalkbackError, type WalkbackError } from '../../shared/errors.ts';
import { createLateWrites } from '../attempt/late-writes.ts';
import { createRollbackJournal, type RollbackDeps } from '../attempt/rollback-journal.ts';
import { isOpen, rollbackResult } from '../attempt/rollback-state.ts';
import type { RollbackJournal } from '../journals.ts';
import type { Checkpoint, RepositoryState } from '../model.ts';
import type { RestoreReport } from '../ports/restore.ts';
import type { TreeNode } from '../ports/stores.ts';
import { createBundleSources } from '../restore/bundle-sources.ts';
import { type EarlyBundles, servesStates } from '../restore/early-bundles.ts';
import { gitWarnings } from '../restore/git-warnings.ts';
import {
  anotherRun,
  isInterrupted,
  onlyChanged,
  restoreError,
  unfinished,
} from '../restore/restore-errors.ts';
import { bringMissing, notAtTarget, planRestore, restoreRequest } from '../restore/restore-plan.ts';
import { createTellingRestore } from '../restore/telling-restore.ts';
import { settledBy, settledIn, type WorkTimeline } from '../session/place.ts';
import { keepChains } from '../session/retention.ts';
import type { Attempt } from './prepare.ts';

/** An attempt whose capture is committed. */
export interface CommittedAttempt extends Attempt {
  target: Checkpoint;
  now: Checkpoint;
  undo: Checkpoint;
  early: EarlyBundles | undefined;
  /** The timeline as the last write before the restore left it. */
  last: WorkTimeline;
}

interface Restored {
  report: RestoreReport;
  warnings: string[];
  /** The timeline as the last write before the command left it. */
  last: WorkTimeline;
}

interface Meanwhile {
  tree: readonly TreeNode[];
}

/** The undo checkpoint is older: what was written since the rollback broke off is in the capture of now alone. */
const wentOn = ({ checkpointId, halfWritten }: Checkpoint): string[] =>
  halfWritten === true
    ? [`it had broken off while it wrote; what was there when it went on is checkpoint ${checkpointId}`]
    : [];

export const createRollbackOutcome = (deps: RollbackDeps) => {
  const { store, clock, log } = deps;
  const restoreIn = createTellingRestore(deps);
  const bundleSources = createBundleSources(deps);
  const { enter, finish, fail } = createRollbackJournal(deps);
  const keepLate = createLateWrites(deps);

  /** Brings the bundles, records that writing may begin, and starts the restore in the sandbox. */
  const restoreTo = async (
    to: Checkpoint,
    attempt: CommittedAttempt,
    wanted: readonly RepositoryState[],
  ): Promise<Restored> => {
    const { journal, place, now, undo, sandbox, invocation } = attempt;
    let { last } = attempt;
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
      skipped: to.skipped,
      sources,
    });
    const { requestId, filesOnly } = journal;
    if (journal.phase !== 'writing') {
      const entered = await enter(journal, 'writing', last);
      if (entered === undefined) return { report: anotherRun, warnings: [], last };
      last = entered;
    }
    const timeoutMs = commandTimeout(invocation, clock);
    const request = restoreRequest(
      place.session,
      {
        filesOnly,
        dryRun: false,
        // A process that kept writing during one capture will not stop for the next.
        allowConcurrentWriters: attempt.round > 0,
        targetTag: to.toolExecutionId,
        timeoutMs,
        carried: early?.place,
      },
      plan.repositories,
    );
    const report = await restoreIn(sandbox, request);
    // Nothing was written, and nothing is under way until the next try.
    if (report.outcome === 'refused' && !attempt.mixed) await enter(journal, 'started');
    const astray = report.outcome === 'applied' ? notAtTarget(plan.repositories, report) : [];
    if (astray.length > 0)
      throw unfinished(requestId, `what was read back in ${astray.join(', ')} is not the target.`);
    const ofGit = gitWarnings(to, now.repositories, { filesOnly });
    return { report, warnings: [...plan.warnings, ...ofGit, ...report.warnings], last };
  };

  /**
   * Refuses a target that cannot be reached. If an earlier run may have written something, it goes back to
   * undo first.
   */
  const refuse = async (attempt: CommittedAttempt, why: WalkbackError): Promise<RollbackAnswer> => {
    const { journal, now, undo } = attempt;
    if (!attempt.mixed) return fail(journal, why, now.seq);
    // The undo state was captured in this sandbox, which normally still has every object. So objects that
    // the store has lost meanwhile are not needed.
    const goBack = bringMissing(undo.repositories, [], (states) => restoreTo(undo, attempt, states));
    const back = await goBack.catch((error: unknown) => {
      if (!isWalkbackError(error) || error.retryable) throw error;
      log.warn('rollback not put back', { requestId: journal.requestId, reason: error.message });
    });
    if (back !== undefined) await keepLate(attempt, back.report, true);
    if (back?.report.outcome === 'applied') return fail(journal, why, undo.seq);
    throw unfinished(journal.requestId, why.message, why);
  };

  return {
    restoreTo,

    /**
     * Reads what the answer needs beside the report. It runs while the restore is at work, because nobody
     * else moves the timeline then.
     */
    meanwhile: async ({ journal, place, target }: CommittedAttempt): Promise<Meanwhile> => {
      const [tree] = await Promise.all([
        store.listTree(journal.sessionId),
        keepChains(store, place.session, target, clock),
      ]);
      return { tree };
    },

    /**
     * For an error before this run wrote anything: either ends the rollback for good, or stops only this
     * run.
     */
    giveUp: (journal: RollbackJournal, mixed: boolean, error: unknown): Promise<RollbackAnswer> => {
      if (!isWalkbackError(error) || error.retryable) throw error;
      // With the sandbox gone, nothing can stand between two states any more.
      if (!mixed || error.name === 'SandboxNotFound') return fail(journal, error);
      throw unfinished(journal.requestId, error.message, error);
    },

    /**
     * For a restore that never began in the sandbox. An error that the same request would meet again ends
     * the rollback.
     */
    notBegun: async (attempt: CommittedAttempt, error: unknown): Promise<RollbackAnswer> => {
      const { journal } = attempt;
      if (!isWalkbackError(error) || error.retryable) throw error;
      const stored = await store.getRollback(journal.sessionId, journal.requestId);
      if (stored === undefined || !isOpen(stored)) throw error;
      // With the sandbox gone, nothing can stand between two states any more.
      return error.name === 'SandboxNotFound' ? fail(journal, error) : refuse(attempt, error);
    },

    /**
     * Undefined: the sandbox changed meanwhile, or another run of the same request was faster. Look again.
     */
    conclude: async (
      attempt: CommittedAttempt,
      { report, warnings, last }: Restored,
      meanwhile: PromiseSettledResult<Meanwhile>,
    ): Promise<RollbackAnswer | undefined> => {
      const { journal, target, now, undo } = attempt;
      // An interruption is never the checkpoint's fault. The journal stays open for the same request.
      if (isInterrupted(report)) throw restoreError(report);
      const kept = await keepLate(attempt, report, attempt.mixed || attempt.round > 0);
      switch (report.outcome) {
        case 'applied': {
          if (meanwhile.status === 'rejected') throw meanwhile.reason;
          const { tree } = meanwhile.value;
          const settled = settledIn(last, settledBy('rollback', journal.requestId));
          const result = {
            ...rollbackResult({
              status: 'APPLIED',
              journal,
              target,
              undo,
              tree,
              report,
              warnings: [...wentOn(now), ...warnings, ...kept.warnings],
              lateWrites: kept.lateWrites,
            }),
            ...settled,
          };
          log.info('rollback', { requestId: journal.requestId, checkpointId: target.checkpointId });
          return finish(journal, result, { target, last: kept.lateWrites === undefined ? last : undefined });
        }
        case 'refused':
          return onlyChanged(report) ? undefined : refuse(attempt, restoreError(report, kept));
        case 'reverted':
          return fail(journal, restoreError(report, kept), undo.seq);
        case 'planned':
        case 'broken':
          throw unfinished(journal.requestId, restoreError(report, kept).message);
      }
    },
  };
};
