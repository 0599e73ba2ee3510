/** The two parts of one attempt at a rollback: the capture of the present state, and the restore. */

import { commandTimeout, type Invocation } from '../../shared/deadline.ts';
import { rollbackToolId } from '../../shared/ids.ts';
import { type CaptureDeps, createCapture } from '../capture/capture.ts';
import type { Captured } from '../capture/capture-report.ts';
import type { Composed } from '../compose/compose.ts';
import type { Checkpoint, RepositoryState, RollbackJournal } from '../model.ts';
import type { RestoreReport } from '../ports/restore.ts';
import type { ExecutionAdapter, Sandboxes } from '../ports/sandbox.ts';
import { createBundleSources } from '../restore/bundle-sources.ts';
import { createEarlyBundles, type EarlyBundles, servesStates } from '../restore/early-bundles.ts';
import { anotherRun, unfinished } from '../restore/restore-errors.ts';
import {
  notAtTarget,
  planRestore,
  requireUndoable,
  restoreRequest,
  targetsOf,
} from '../restore/restore-plan.ts';
import type { Place } from '../session/place.ts';
import { createRollbackJournal } from './rollback-journal.ts';

export type RollbackDeps = CaptureDeps & { sandboxes: Sandboxes };

/** The inputs of one attempt. `mixed`: an earlier run may have written part of the target. */
export interface Attempt {
  journal: RollbackJournal;
  place: Place;
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

/** An attempt whose capture is committed. */
export interface Noted extends Attempt {
  target: Checkpoint;
  now: Checkpoint;
  undo: Checkpoint;
  early: EarlyBundles | undefined;
  /** The timeline as the last write before the restore left it. */
  last: Place;
}

export interface Restored {
  report: RestoreReport;
  warnings: string[];
  /** The timeline as the last write before the command left it. */
  last: Place;
}

export interface Taken {
  captured: Captured;
  early: EarlyBundles | undefined;
}

export const createRollbackAttempt = (deps: RollbackDeps) => {
  const { repositories, clock, log } = deps;
  const capture = createCapture(deps);
  const bundleSources = createBundleSources(deps);
  const bringEarly = createEarlyBundles(deps);
  const { enter } = createRollbackJournal(deps);

  return {
    captureNow: async (attempt: Attempt): Promise<Taken> => {
      const { journal, place, target, head, sandbox, invocation } = attempt;
      let early: EarlyBundles | undefined;
      const captured = await capture(
        {
          session: place.session,
          sandbox,
          head,
          toolExecutionId: rollbackToolId(journal.requestId, journal.captures + 1),
          messageId: head?.messageId ?? null,
          reason: 'rollback',
          targets: target === undefined ? [] : targetsOf(target.repositories),
          defersLinks: true,
          beside: async (outline) => {
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
    },

    /** Brings the bundles, records that writing may begin, and starts the restore in the sandbox. */
    restoreTo: async (
      to: Checkpoint,
      attempt: Noted,
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
          requestId,
          filesOnly,
          dryRun: false,
          // A process that kept writing during one capture will not stop for the next.
          company: attempt.round > 0,
          targetTag: to.toolExecutionId,
          timeoutMs,
          carried: early?.place,
        },
        plan.repositories,
      );
      const report = await repositories.restore(sandbox, request);
      // Nothing was written, and nothing is under way until the next try.
      if (report.outcome === 'refused' && !attempt.mixed) await enter(journal, 'captured');
      const astray = report.outcome === 'applied' ? notAtTarget(plan.repositories, report) : [];
      if (astray.length > 0)
        throw unfinished(requestId, `what was read back in ${astray.join(', ')} is not the target.`);
      return { report, warnings: [...plan.warnings, ...report.warnings], last };
    },
  };
};
