/**
 * One capture of all repositories, durable: run the script, verify and store every bundle, store the links. What
 * it leaves behind is inventory nobody sees until a checkpoint item names it (C1), so it may be repeated freely.
 */
import pLimit from 'p-limit';
import { isWalkbackError, WalkbackError } from '../errors.ts';
import type {
  BundleStore,
  CapturedRepository,
  CaptureReport,
  CaptureRequest,
  Clock,
  ExecutionAdapter,
  Log,
  Repositories,
  SessionStore,
} from '../ports.ts';
import { createBundleIntake } from './bundle-intake.ts';
import { isRepositoryPath } from './capture-claims.ts';
import { knownFrom } from './chain.ts';
import { commandTimeout, type Invocation } from './deadline.ts';
import type { Checkpoint, RepositoryState, Session, Uncaptured } from './model.ts';
import { createRepositoryIntake } from './repository-intake.ts';
import { DEFAULTS } from './schemas.ts';

export interface CaptureDeps {
  store: SessionStore;
  bundles: BundleStore;
  repositories: Repositories;
  clock: Clock;
  log: Log;
}

export interface CaptureInput {
  session: Session;
  sandbox: ExecutionAdapter;
  /** The checkpoint the sandbox stands on; undefined for a baseline. */
  head: Checkpoint | undefined;
  toolExecutionId: string;
  messageId: string | null;
  reason: string;
  knownBases?: string[];
  targets?: CaptureRequest['targets'];
}

export interface Captured {
  repositories: RepositoryState[];
  failures: Uncaptured[];
  skipped: Uncaptured[];
  complete: boolean;
  /** Paths whose target commit is not in the sandbox. */
  missingTargets: string[];
}

/** More would not fit an item of the table; the rest is counted. */
const MAX_LISTED = 100;

const capped = (items: readonly Uncaptured[], what: string): Uncaptured[] =>
  items.length <= MAX_LISTED
    ? [...items]
    : [...items.slice(0, MAX_LISTED), { path: '.', reason: `${items.length - MAX_LISTED} more ${what}` }];

const byPath = (a: { path: string }, b: { path: string }): number =>
  a.path < b.path ? -1 : Number(a.path > b.path);

const notCaptured = (
  path: string,
  state: 'absent' | 'failed',
  before: RepositoryState | undefined,
): RepositoryState => ({ ...before, path, state, changed: false, bundleBytes: 0 });

export const captureRequest = (input: CaptureInput, invocation: Invocation, clock: Clock): CaptureRequest => {
  const { session, head } = input;
  const states = head?.repositories ?? [];
  const bases = [...(input.knownBases ?? []), ...states.flatMap((state) => state.base ?? [])];
  return {
    sessionId: session.sessionId,
    projectsRoot: session.projectsRoot,
    toolExecutionId: input.toolExecutionId,
    messageId: input.messageId,
    reason: input.reason,
    known: states.flatMap((state) => knownFrom(state) ?? []),
    knownBases: [...new Set(bases)],
    include: session.include,
    exclude: session.exclude,
    maxFileBytes: session.maxFileBytes,
    maxDepth: DEFAULTS.maxDepth,
    targets: input.targets,
    timeoutMs: commandTimeout(invocation, clock),
    maxInlineBytes: DEFAULTS.maxInlineBytes,
  };
};

/** Repositories as the report has them, and those it should have mentioned. A path it may not use is dropped. */
const reported = (report: CaptureReport, head: Checkpoint | undefined): CapturedRepository[] => {
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

const refuseEmptyHanded = (repositories: readonly RepositoryState[], failures: readonly Uncaptured[]) => {
  const hasFailed = repositories.some(({ state }) => state === 'failed');
  if (!hasFailed || repositories.some(({ state }) => state === 'captured')) return;
  const reasons = failures.slice(0, 5).map(({ path, reason }) => `${path}: ${reason}`);
  throw new WalkbackError(
    'CaptureFailed',
    `No repository could be captured, so there is no checkpoint. ${reasons.join('; ')}`,
    { details: { failures: capped(failures, 'failures') } },
  );
};

/** Runs the capture and stores nothing: what a dry run sees. */
export const createDryCapture =
  (deps: Pick<CaptureDeps, 'repositories' | 'clock'>) =>
  async (input: CaptureInput, invocation: Invocation): Promise<Captured> => {
    const request = captureRequest(input, invocation, deps.clock);
    const report = await deps.repositories.capture(input.sandbox, request, async () => null);
    const repositories = reported(report, input.head).map(
      ({ path, state, commit, tree, meta, changed, info }): RepositoryState => ({
        path,
        state,
        commit,
        tree,
        meta,
        changed,
        bundleBytes: 0,
        objectFormat: info?.objectFormat,
      }),
    );
    refuseEmptyHanded(repositories, report.failures);
    const isWhole = report.failures.length === 0 && repositories.every(({ state }) => state !== 'failed');
    return {
      repositories,
      failures: capped(report.failures, 'failures'),
      skipped: capped(report.skipped, 'left out'),
      complete: isWhole,
      missingTargets: report.repositories.filter((one) => one.missingTarget === true).map(({ path }) => path),
    };
  };

export const createCapture = (deps: CaptureDeps) => {
  const { store, bundles, repositories, clock, log } = deps;

  return async (input: CaptureInput, invocation: Invocation): Promise<Captured> => {
    const { session, head } = input;
    const intake = createBundleIntake({ sessionId: session.sessionId, store, bundles, clock });
    const request = captureRequest(input, invocation, clock);
    const report = await repositories.capture(input.sandbox, request, intake.upload);
    const before = new Map((head?.repositories ?? []).map((state) => [state.path, state]));
    const failures = [...report.failures];
    const take = createRepositoryIntake({ session, store, intake, clock, bundles: report.bundles });

    const settle = async (repository: CapturedRepository) => {
      const { path, state } = repository;
      if (state !== 'captured') {
        if (state === 'failed' && !failures.some((one) => one.path === path)) {
          failures.push({ path, reason: 'the capture did not report it' });
        }
        return { state: notCaptured(path, state, before.get(path)) };
      }
      try {
        return await take(repository, before.get(path));
      } catch (error) {
        // Only what is wrong with this one repository; a store that does not answer fails the whole call.
        if (!isWalkbackError(error, 'CaptureFailed') && !isWalkbackError(error, 'BundleCorrupt')) throw error;
        log.warn('repository not captured', { path, reason: error.message });
        failures.push({ path, reason: error.message });
        return { state: notCaptured(path, 'failed', before.get(path)) };
      }
    };

    const limit = pLimit(8);
    const taken = await Promise.all(
      reported(report, head).map((repository) => limit(() => settle(repository))),
    );
    const states = taken.map(({ state }) => state);
    refuseEmptyHanded(states, failures);
    await store.putLinks(taken.flatMap((one) => ('link' in one && one.link ? [one.link] : [])));
    return {
      repositories: states,
      failures: capped(failures, 'failures'),
      skipped: capped(report.skipped, 'left out'),
      complete: failures.length === 0,
      missingTargets: report.repositories.filter((one) => one.missingTarget === true).map(({ path }) => path),
    };
  };
};
