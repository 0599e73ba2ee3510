/** What a rollback does about what came of an attempt: it ends, it looks again, or it stays open. */

import type { RollbackAnswer } from '../../../contract/checkpoint-answers.ts';
import { isWalkbackError, type WalkbackError } from '../../shared/errors.ts';
import type { RollbackJournal } from '../model.ts';
import type { RestoreReport } from '../ports/restore.ts';
import { findPlace, settledBy, settledIn } from '../session/place.ts';
import { keepCheckpoint } from '../session/retention.ts';
import { isInterrupted, onlyChanged, restoreError, unfinished } from './restore-errors.ts';
import { bringMissing } from './restore-plan.ts';
import { createRollbackAttempt, type Noted, type RollbackDeps } from './rollback-attempt.ts';
import { createRollbackJournal } from './rollback-journal.ts';
import { copyOf } from './rollback-phase.ts';
import { rollbackResult } from './rollback-result.ts';

export const createRollbackOutcome = (deps: RollbackDeps) => {
  const { store, clock, log } = deps;
  const { restoreTo } = createRollbackAttempt(deps);
  const { finish, fail } = createRollbackJournal(deps);

  /** The target cannot be reached. Back to undo first where an earlier run may have written something. */
  const refuse = async (attempt: Noted, why: WalkbackError): Promise<RollbackAnswer> => {
    const { journal, now, undo } = attempt;
    if (!attempt.mixed) return fail(journal, why, now.seq);
    // The sandbox was captured there: mostly it has every object, and what the store lost meanwhile is not asked for.
    const goBack = bringMissing(undo.repositories, [], (states) => restoreTo(undo, attempt, states));
    const back = await goBack.catch((error: unknown) => {
      if (!isWalkbackError(error) || error.retryable) throw error;
      log.warn('rollback not put back', { requestId: journal.requestId, reason: error.message });
    });
    if (back?.report.outcome === 'applied') return fail(journal, why, undo.seq);
    throw unfinished(journal.requestId, why.message, why);
  };

  return {
    /** Before this run wrote anything: what ends the rollback for good, and what only stops this run. */
    giveUp: (journal: RollbackJournal, mixed: boolean, error: unknown): Promise<RollbackAnswer> => {
      if (!isWalkbackError(error) || error.retryable) throw error;
      // Without a sandbox there is nothing left that could stand between two states.
      if (!mixed || error.name === 'SandboxNotFound') return fail(journal, error);
      throw unfinished(journal.requestId, error.message, error);
    },

    /** The restore was never begun in the sandbox: what the same request would only meet again ends it. */
    notBegun: async (attempt: Noted, error: unknown): Promise<RollbackAnswer> => {
      const { journal } = attempt;
      if (!isWalkbackError(error) || error.retryable) throw error;
      const stored = await store.getRollback(journal.sessionId, journal.requestId);
      const isOurs = stored?.phase === 'captured' || stored?.phase === 'writing';
      if (!isOurs) throw error;
      // Without a sandbox there is nothing left that could stand between two states.
      return error.name === 'SandboxNotFound' ? fail(journal, error) : refuse(attempt, error);
    },

    /** Undefined: the sandbox moved under us, or another run of the same request was faster. Look again. */
    conclude: async (
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
          const by = settledBy('rollback', journal.requestId);
          const settled = settledIn(await findPlace(store, journal.sessionId, copyOf(journal)), by);
          const result = {
            ...rollbackResult({ status: 'APPLIED', journal, target, undo, tree, report, warnings }),
            ...settled,
          };
          log.info('rollback', { requestId: journal.requestId, checkpointId: target.checkpointId });
          return finish(journal, result, target.seq);
        }
        case 'refused':
          return onlyChanged(report) ? undefined : refuse(attempt, restoreError(report));
        case 'reverted':
          return fail(journal, restoreError(report), undo.seq);
        case 'planned':
        case 'broken':
          throw unfinished(journal.requestId, restoreError(report).message);
      }
    },
  };
};
