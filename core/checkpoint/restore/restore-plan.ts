/** Plans a restore for each repository, from three captures: target, now and undo. Pure. */
import type { Uncaptured } from '../../../contract/answer-fields.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { Captured } from '../capture/capture-report.ts';
import { DEFAULTS } from '../defaults.ts';
import type { CapturedRepositoryState, RepositoryState, Session } from '../model.ts';
import type { CaptureTarget } from '../ports/capture.ts';
import type {
  BundleSource,
  CapturedState,
  RestoreReport,
  RestoreRepository,
  RestoreRequest,
  VerifiedState,
} from '../ports/restore.ts';
import { skippedBelow } from './asides.ts';

export interface RestorePlan {
  repositories: RestoreRepository[];
  warnings: string[];
}

/** Warning for a checkpoint at which every repository was gone. */
export const HOLDS_NOTHING = 'the checkpoint holds no repository';

const captured = (states: readonly RepositoryState[], path: string): CapturedRepositoryState | undefined =>
  states.find((state): state is CapturedRepositoryState => state.state === 'captured' && state.path === path);

const stateOf = (state: CapturedRepositoryState | undefined): CapturedState | null =>
  state === undefined ? null : { tree: state.tree, meta: state.meta };

/**
 * Covers every repository of target, now or undo. An earlier run may have set a repository aside, and it
 * must come back if this run fails. A repository that the target does not have is parked (`target: null`).
 * One that the target failed to capture is left alone: its content then is unknown, and its content now is
 * known.
 */
export const planRestore = (from: {
  target: readonly RepositoryState[];
  now: readonly RepositoryState[];
  undo: readonly RepositoryState[];
  /** Files that the target left out on purpose. */
  skipped: readonly Uncaptured[];
  sources: ReadonlyMap<string, BundleSource[]>;
}): RestorePlan => {
  const plan: RestorePlan = { repositories: [], warnings: [] };
  const paths = new Set([...from.target, ...from.now, ...from.undo].map((state) => state.path));
  const skipped = skippedBelow([...paths], from.skipped);
  for (const path of [...paths].toSorted()) {
    const there = from.target.find((state) => state.path === path);
    if (there?.state === 'failed') {
      plan.warnings.push(`${path}: left as it is, because the checkpoint does not hold it`);
      continue;
    }
    const target = captured(from.target, path);
    const now = captured(from.now, path);
    const undo = captured(from.undo, path);
    if (target === undefined && now === undefined && undo === undefined) continue;
    plan.repositories.push({
      path,
      target: stateOf(target),
      now: stateOf(now),
      undo: stateOf(undo),
      partial: target?.partial,
      skipped: skipped.get(path),
      stash: target?.stash,
      bundles: from.sources.get(path) ?? [],
    });
  }
  return plan;
};

/**
 * Repositories for a fresh sandbox: those that the target holds, and the last good state of those that it
 * failed to capture.
 */
export const planFresh = (
  target: readonly RepositoryState[],
  sources: ReadonlyMap<string, BundleSource[]>,
): RestorePlan => {
  const plan: RestorePlan = { repositories: [], warnings: [] };
  for (const state of target) {
    const { path, tree, meta } = state;
    if (state.state === 'absent') continue;
    if (tree === undefined || meta === undefined) {
      plan.warnings.push(`${path}: missing, because it was never captured`);
      continue;
    }
    if (state.state === 'failed')
      plan.warnings.push(`${path}: older than the rest, because the checkpoint does not hold it`);
    plan.repositories.push({
      path,
      target: { tree, meta },
      now: null,
      undo: null,
      partial: state.partial,
      stash: state.stash,
      bundles: sources.get(path) ?? [],
    });
  }
  if (plan.repositories.length === 0) plan.warnings.push(HOLDS_NOTHING);
  return plan;
};

/** Parts of a capture in which what a restore read back may differ from its target, with a reason. */
const FILE_PARTS = new Set(['files', 'inner']);
const HOST_PARTS = new Set(
  'host index stage1 stage2 stage3 index-flags sparse state shallow remotes settings attributes modes empty left-out parents'.split(
    ' ',
  ),
);

const isVerified = (target: CapturedState, read: VerifiedState): boolean =>
  (read.tree === target.tree || read.apart.some((part) => FILE_PARTS.has(part))) &&
  (read.meta === target.meta || read.apart.some((part) => HOST_PARTS.has(part)));

/**
 * Repositories that a restore reported as applied although what it read back is not the requested state (C10).
 */
export const notAtTarget = (asked: readonly RestoreRepository[], report: RestoreReport): string[] => {
  const read = new Map(report.repositories.map(({ path, verified }) => [path, verified]));
  return asked.flatMap(({ path, target }) => {
    const found = read.get(path) ?? null;
    return target === null || (found !== null && isVerified(target, found)) ? [] : [path];
  });
};

/**
 * States whose objects the restore found missing or damaged, and whose bundles were not brought. The
 * capture takes only a quick look, while the restore checks every object. Some damage shows only when Git
 * reads the object.
 */
const statesLacking = (
  target: readonly RepositoryState[],
  report: RestoreReport,
  brought: readonly RepositoryState[],
): RepositoryState[] => {
  if (report.outcome !== 'refused' && report.outcome !== 'reverted') return [];
  const lacking = report.problems.filter(({ kind }) => kind === 'missing-objects').map(({ path }) => path);
  return target.filter((state) => lacking.includes(state.path) && !brought.includes(state));
};

/**
 * Restores with the bundles of `wanted`. If objects turn out to be missing, restores once more with their
 * bundles too.
 */
export const bringMissing = async <Restored extends { report: RestoreReport }>(
  target: readonly RepositoryState[],
  wanted: readonly RepositoryState[],
  restore: (states: readonly RepositoryState[]) => Promise<Restored>,
): Promise<Restored> => {
  const first = await restore(wanted);
  const lacking = statesLacking(target, first.report, wanted);
  return lacking.length === 0 ? first : restore([...wanted, ...lacking]);
};

/** Refuses a capture of "now" that could not restore everything (C3). */
export const requireUndoable = (captured: Captured): void => {
  const failed = captured.repositories.filter(({ state }) => state === 'failed').map(({ path }) => path);
  if (failed.length === 0) return;
  const reasons = captured.failures
    .filter(({ path }) => failed.includes(path))
    .map(({ path, reason }) => `${path}: ${reason}`);
  throw new WalkbackError(
    'CaptureFailed',
    `What is in the sandbox now could not be captured, so going back could not be undone. ${reasons.join('; ')}. Nothing was changed.`,
    { details: { failed } },
  );
};

/**
 * States whose bundles a restore must bring: those that the sandbox said it lacks, and every repository
 * that is not there now, because its shadow is gone too.
 */
export const statesToBring = (
  target: readonly RepositoryState[],
  captured: { repositories: readonly { path: string; state: string }[]; missingTargets: readonly string[] },
): RepositoryState[] => {
  const there = new Set(
    captured.repositories.filter(({ state }) => state === 'captured').map(({ path }) => path),
  );
  return target.filter(
    ({ state, path }) => state === 'captured' && (!there.has(path) || captured.missingTargets.includes(path)),
  );
};

/** The commits that a capture of "now" is compared with. */
export const targetsOf = (target: readonly RepositoryState[]): CaptureTarget[] =>
  target.flatMap((repository) => {
    if (repository.state !== 'captured') return [];
    const { path, commit, tree, meta } = repository;
    return [{ path, commit, tree, meta }];
  });

export const restoreRequest = (
  session: Session,
  how: Pick<
    RestoreRequest,
    | 'filesOnly'
    | 'dryRun'
    | 'settle'
    | 'fresh'
    | 'allowConcurrentWriters'
    | 'targetTag'
    | 'timeoutMs'
    | 'carried'
  >,
  repositories: RestoreRepository[],
): RestoreRequest => ({
  ...how,
  sessionId: session.sessionId,
  projectsRoot: session.projectsRoot,
  repositories,
  include: session.include,
  exclude: session.exclude,
  maxFileBytes: session.maxFileBytes,
  maxDepth: DEFAULTS.maxDepth,
});
