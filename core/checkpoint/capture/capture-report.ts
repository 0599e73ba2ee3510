/**
 * The result of a capture: turns the sandbox's report into the repository states that a checkpoint lists.
 * Pure.
 */
import type { Uncaptured } from '../../../contract/answer-fields.ts';
import { firstThatFit, shortened } from '../../shared/bounded.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { isRepositoryPath } from '../../shared/ids.ts';
import type { ChainLink } from '../bundles.ts';
import type { Checkpoint, CheckpointContent, RepositoryState } from '../model.ts';
import type { CapturedRepository, CaptureReport } from '../ports/capture.ts';

export interface Captured {
  repositories: RepositoryState[];
  failures: Uncaptured[];
  skipped: Uncaptured[];
  complete: boolean;
  /** Paths whose target commit is not in the sandbox. */
  missingTargets: string[];
  /** Files in it that a restore had put aside, relative to the projects root. */
  late: string[];
  /** Absent in a dry capture. */
  content?: CheckpointContent;
  /** Not stored yet: the write that makes a checkpoint of this stores them too. */
  links?: ChainLink[];
}

/** More would not fit into an item of the table. The rest is only counted. */
const LISTED = { count: 100, bytes: 64 * 1024 };

const capped = (items: readonly Uncaptured[], what: string): Uncaptured[] => {
  const told = items
    .slice(0, LISTED.count)
    .map((item) => ({ ...item, path: shortened(item.path), reason: shortened(item.reason) }));
  const listed = firstThatFit(told, LISTED);
  const left = items.length - listed.length;
  return left === 0 ? listed : [...listed, { path: '.', reason: `${left} more ${what}` }];
};

const byPath = (a: { path: string }, b: { path: string }): number =>
  a.path < b.path ? -1 : Number(a.path > b.path);

/**
 * A repository that was not captured keeps its last good capture, so that the next one can continue from
 * it.
 */
export const notCaptured = (
  path: string,
  state: 'absent' | 'failed',
  before: RepositoryState | undefined,
): RepositoryState => ({ ...before, path, state, changed: false, bundleBytes: 0 });

/**
 * The repositories in the report, and those that it should have mentioned. A path that the report may not
 * use is dropped.
 */
export const reported = (
  report: CaptureReport,
  head: Pick<Checkpoint, 'repositories'> | undefined,
): CapturedRepository[] => {
  const byName = new Map<string, CapturedRepository>();
  for (const repository of report.repositories) {
    if (isRepositoryPath(repository.path)) byName.set(repository.path, repository);
  }
  for (const state of head?.repositories ?? []) {
    if (byName.has(state.path)) continue;
    byName.set(state.path, {
      path: state.path,
      state: state.state === 'absent' ? 'absent' : 'failed',
      changed: false,
    });
  }
  return [...byName.values()].toSorted(byPath);
};

const refuseEmptyHanded = (
  repositories: readonly RepositoryState[],
  failures: readonly Uncaptured[],
): void => {
  const hasFailed = repositories.some(({ state }) => state === 'failed');
  if (!hasFailed || repositories.some(({ state }) => state === 'captured')) return;
  const reasons = failures.slice(0, 5).map(({ path, reason }) => `${path}: ${reason}`);
  throw new WalkbackError(
    'CaptureFailed',
    `No repository could be captured, so there is no checkpoint. ${reasons.join('; ')}`,
    { details: { failures: capped(failures, 'failures') } },
  );
};

/**
 * Sums up the whole capture. It is an error if every repository failed, and incomplete if some did (C5).
 * Files that were left out on purpose (too large, not a file) are listed, and the capture still counts as
 * complete.
 */
export const concluded = (
  report: CaptureReport,
  repositories: RepositoryState[],
  failures: readonly Uncaptured[],
): Captured => {
  refuseEmptyHanded(repositories, failures);
  return {
    repositories,
    failures: capped(failures, 'failures'),
    skipped: capped(report.skipped, 'left out'),
    complete: failures.length === 0 && repositories.every(({ state }) => state !== 'failed'),
    missingTargets: report.repositories.filter((one) => one.missingTarget === true).map(({ path }) => path),
    late: report.late ?? [],
  };
};
