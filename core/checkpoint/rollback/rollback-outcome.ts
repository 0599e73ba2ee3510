/** Decides how a rollback goes on after an attempt: it ends, it looks again, or it stays open. */

import type { RollbackAnswer } from '../../../contract/rollback-answers.ts';
import { isWalkbackError, type WalkbackError } from '../../shared/errors.ts';
import { createLateWrites } from '../attempt/late-writes.ts';
import {
  createRollbackAttempt,
  type Noted,
  type Restored,
  type RollbackDeps,
} from '../attempt/rollback-attempt.ts';
import { createRollbackJournal } from '../attempt/rollback-journal.ts';
import { composedFacts } from '../attempt/rollback-phase.ts';
import { rollbackResult } from '../attempt/rollback-result.ts';
import type { Checkpoint, RollbackJournal } from '../model.ts';
import type { TreeNode } from '../ports/stores.ts';
import { isInterrupted, onlyChanged, restoreError, unfinished } from '../restore/restore-errors.ts';
import { bringMissing } from '../restore/restore-plan.ts';
import { settledBy, settledIn } from '../session/place.ts';
import { keepChains } from '../session/retention.ts';

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
  const { restoreTo } = createRollbackAttempt(deps);
  const { finish, fail } = createRollbackJournal(deps);
  const keepLate = createLateWrites(deps);

  /**
   * Refuses a target that cannot be reached. If an earlier run may have written something, it goes back to
   * undo first.
   */
  const refuse = async (attempt: Noted, why: WalkbackError): Promise<RollbackAnswer> => {
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
    /**
     * Reads what the answer needs beside the report. It runs while the restore is at work, because nobody
     * else moves the timeline then.
     */
    meanwhile: async ({ journal, place, target }: Noted): Promise<Meanwhile> => {
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
    notBegun: async (attempt: Noted, error: unknown): Promise<RollbackAnswer> => {
      const { journal } = attempt;
      if (!isWalkbackError(error) || error.retryable) throw error;
      const stored = await store.getRollback(journal.sessionId, journal.requestId);
      const isOurs = stored?.phase === 'captured' || stored?.phase === 'writing';
      if (!isOurs) throw error;
      // With the sandbox gone, nothing can stand between two states any more.
      return error.name === 'SandboxNotFound' ? fail(journal, error) : refuse(attempt, error);
    },

    /**
     * Undefined: the sandbox changed meanwhile, or another run of the same request was faster. Look again.
     */
    conclude: async (
      attempt: Noted,
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
              composed: composedFacts(journal, target),
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
