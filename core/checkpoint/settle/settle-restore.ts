/** Puts back what an abandoned rollback wrote. */

import { commandTimeout, type Invocation } from '../../shared/deadline.ts';
import type { RollbackDeps } from '../attempt/rollback-journal.ts';
import type { Captured } from '../capture/capture-report.ts';
import type { RollbackJournal } from '../journals.ts';
import type { Checkpoint, RepositoryState } from '../model.ts';
import type { BundleSource, RestoreReport } from '../ports/restore.ts';
import type { ExecutionAdapter } from '../ports/sandbox.ts';
import { createBundleSources } from '../restore/bundle-sources.ts';
import { onlyChanged } from '../restore/restore-errors.ts';
import { planRestore, restoreRequest, statesToBring } from '../restore/restore-plan.ts';
import { createTellingRestore } from '../restore/telling-restore.ts';
import type { WorkTimeline } from '../session/place.ts';

interface AbandonedRollback {
  place: WorkTimeline;
  journal: RollbackJournal;
  target: Checkpoint;
  undo: Checkpoint;
  found: Checkpoint;
  captured: Captured;
  sandbox: ExecutionAdapter;
  invocation: Invocation;
}

type States = readonly RepositoryState[];

/**
 * The repositories that the rollback was to change, and whose state is fully known. It did not touch the
 * others, or their state cannot be determined.
 */
const concerned = ({ target, undo, found }: AbandonedRollback): Set<string> => {
  const stateAt = (states: States, path: string) => states.find((state) => state.path === path);
  const paths = [...target.repositories, ...undo.repositories].map(({ path }) => path);
  return new Set(
    paths.filter((path) => {
      const at = [target, undo, found].map(({ repositories }) => stateAt(repositories, path));
      if (at.some((state) => state?.state === 'failed')) return false;
      const [to, from] = at.map((state) => (state?.state === 'captured' ? state : undefined));
      return to?.tree !== from?.tree || to?.meta !== from?.meta;
    }),
  );
};

/** The report when undo and target do not differ in anything that can be compared. */
const NOTHING: RestoreReport = {
  outcome: 'applied',
  repositories: [],
  problems: [],
  warnings: [],
  settled: { reached: 0, kept: [], keptNotListed: 0 },
  roundTrips: 0,
};

export const createSettleRestore = (deps: RollbackDeps) => {
  const { clock } = deps;
  const restoreIn = createTellingRestore(deps);
  const bundleSources = createBundleSources(deps);

  const sourcesOf = async (
    sessionId: string,
    ends: readonly States[],
  ): Promise<Map<string, BundleSource[]>> => {
    const merged = new Map<string, BundleSource[]>();
    for (const states of ends) {
      for (const [path, sources] of await bundleSources(sessionId, states)) {
        merged.set(path, [...(merged.get(path) ?? []), ...sources]);
      }
    }
    return merged;
  };

  const ask = async (from: AbandonedRollback, ends: readonly States[]): Promise<RestoreReport> => {
    const { place, journal, target, undo, found, sandbox, invocation } = from;
    const paths = concerned(from);
    const only = (states: States): States => states.filter(({ path }) => paths.has(path));
    const plan = planRestore({
      target: only(target.repositories),
      now: only(found.repositories),
      undo: only(undo.repositories),
      skipped: target.skipped,
      sources: await sourcesOf(journal.sessionId, ends.map(only)),
    });
    if (plan.repositories.length === 0) return NOTHING;
    const request = restoreRequest(
      place.session,
      {
        filesOnly: journal.filesOnly,
        dryRun: false,
        settle: true,
        targetTag: target.toolExecutionId,
        timeoutMs: commandTimeout(invocation, clock),
      },
      plan.repositories,
    );
    return restoreIn(sandbox, request);
  };

  /**
   * Tries once more with the bundles of both ends when the sandbox has lost objects. Undefined: the sandbox changed
   * since it was captured.
   */
  return async (from: AbandonedRollback): Promise<RestoreReport | undefined> => {
    const { target, undo, captured } = from;
    const first = await ask(from, [statesToBring(target.repositories, captured)]);
    const isLacking = first.problems.some(({ kind }) => kind === 'missing-objects');
    const held = (states: States): States => states.filter(({ state }) => state === 'captured');
    const report =
      first.outcome === 'refused' && isLacking
        ? await ask(from, [held(target.repositories), held(undo.repositories)])
        : first;
    return onlyChanged(report) ? undefined : report;
  };
};
