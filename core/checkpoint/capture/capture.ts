/**
 * Makes one durable capture of all repositories: runs the command, verifies and stores every bundle, and
 * stores the links, or answers them for the write that names them. None of this is visible until a checkpoint item names it (C1), so it is safe to repeat.
 */
import type { Uncaptured } from '../../../contract/answer-fields.ts';
import { batched } from '../../shared/batched.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { isWalkbackError } from '../../shared/errors.ts';
import type { Clock, Log } from '../../shared/surroundings.ts';
import type { StoredUpload } from '../bundles.ts';
import { createKeepContent } from '../content/keep-content.ts';
import type { RepositoryState } from '../model.ts';
import type { CapturedRepository, CaptureHooks, CaptureReport, UploadTarget } from '../ports/capture.ts';
import type { Repositories } from '../ports/repositories.ts';
import type { BundleStore, SessionStore } from '../ports/stores.ts';
import { createBundleIntake } from './bundle-intake.ts';
import { type Captured, concluded, notCaptured, reported } from './capture-report.ts';
import { type CaptureInput, captureRequest } from './capture-request.ts';
import type { BundleLimits } from './limits.ts';
import { createRepositoryIntake, type RepositoryIntake } from './repository-intake.ts';
import { createTelling, type Telling } from './tell-progress.ts';

export interface CaptureDeps {
  store: SessionStore;
  bundles: BundleStore;
  repositories: Repositories;
  clock: Clock;
  log: Log;
  /** Set by a test; the default is `BUNDLE_LIMITS`. */
  limits?: BundleLimits;
}

/** The bundles that were read need not stay on the disk of the sandbox until a later call removes them. */
const releaseRead = async (
  repositories: Pick<Repositories, 'release'>,
  { sandbox, session: { sessionId, projectsRoot } }: Pick<CaptureInput, 'sandbox' | 'session'>,
  { held }: CaptureReport,
): Promise<void> => {
  if (held !== undefined) await repositories.release(sandbox, { sessionId, projectsRoot, held });
};

/** Runs the capture and stores nothing. A dry run uses this. `telling` is of a caller that may write to the table. */
export const createDryCapture =
  (deps: Pick<CaptureDeps, 'repositories' | 'clock' | 'limits'>, telling?: Telling) =>
  async (input: CaptureInput, invocation: Invocation): Promise<Captured> => {
    const request = captureRequest(input, invocation, deps.clock, deps.limits);
    const look = (hooks: CaptureHooks): Promise<CaptureReport> =>
      deps.repositories.capture(input.sandbox, request, async () => null, hooks);
    const report = await (telling === undefined ? look({}) : telling(input.session.sessionId, look));
    await releaseRead(deps.repositories, input, report);
    const states = reported(report, input.head).map((repository): RepositoryState => {
      const { path, changed } = repository;
      if (repository.state !== 'captured') return { path, state: repository.state, changed, bundleBytes: 0 };
      const { commit, tree, meta, info } = repository;
      const before = input.head?.repositories.find((one) => one.path === path);
      // Nothing is told of a repository that did not change.
      const { branch, head } = info ?? before ?? {};
      const objectFormat = info?.objectFormat;
      return {
        path,
        state: repository.state,
        commit,
        tree,
        meta,
        changed,
        bundleBytes: 0,
        objectFormat,
        branch,
        head,
      };
    });
    return concluded(report, states, report.failures);
  };

const isMentioned = (failures: readonly Uncaptured[], path: string): boolean =>
  failures.some((one) => one.path === path || one.path.startsWith(`${path}/`));

/** Takes in what a command of the sandbox captured: verifies and stores every bundle, then the links. */
export const createTakeIn = (deps: CaptureDeps) => {
  const { store, bundles, repositories, clock, log } = deps;
  /** `head`: the states that the command was given as known. */
  return async <Report extends CaptureReport>(
    input: Pick<CaptureInput, 'session' | 'sandbox' | 'head' | 'said' | 'defersLinks'>,
    run: (upload: UploadTarget) => Promise<Report>,
  ): Promise<{ captured: Captured; report: Report }> => {
    const { session, head } = input;
    const before = new Map((head?.repositories ?? []).map((state) => [state.path, state]));
    // Two turns, so that content and links, which are joined first, are indexed by one request.
    const index = batched<StoredUpload>((uploads) => store.putUploads(uploads), 2);
    const intake = createBundleIntake({ session, before, store, bundles, index, clock });
    const report = await run(intake.upload);
    const failures = [...report.failures];
    const take = createRepositoryIntake({ session, store, intake, clock, bundles: report.bundles });

    const settle = async (repository: CapturedRepository): Promise<RepositoryIntake> => {
      const { path, state } = repository;
      if (repository.state !== 'captured') {
        if (state === 'failed' && !isMentioned(failures, path)) {
          failures.push({ path, reason: 'the capture did not report it' });
        }
        return { state: notCaptured(path, repository.state, before.get(path)) };
      }
      try {
        return await take(repository, before.get(path));
      } catch (error) {
        // These errors concern only this one repository. A store that does not answer fails the whole call.
        if (!isWalkbackError(error, 'CaptureFailed') && !isWalkbackError(error, 'BundleCorrupt')) throw error;
        log.warn('repository not captured', { path, reason: error.message });
        failures.push({ path, reason: error.message });
        return { state: notCaptured(path, 'failed', before.get(path)) };
      }
    };

    const [content, , ...taken] = await Promise.all([
      createKeepContent({ index, bundles, clock, log })(session, input.said ?? {}, report.changes),
      releaseRead(repositories, input, report),
      ...reported(report, head).map((repository) => settle(repository)),
    ]);
    const links = taken.flatMap(({ link }) => link ?? []);
    if (input.defersLinks !== true) await store.putLinks(links);
    const states = taken.map(({ state }) => state);
    const captured: Captured = {
      ...concluded(report, states, failures),
      content,
      ...(input.defersLinks === true && { links }),
    };
    return { captured, report };
  };
};

export const createCapture = (deps: CaptureDeps) => {
  const takeIn = createTakeIn(deps);
  const telling = createTelling(deps);
  return async (input: CaptureInput, invocation: Invocation): Promise<Captured> => {
    // A baseline has nothing to compare with. The first capture of a fork is a baseline.
    const hasBefore = input.head !== undefined && input.startsOver !== true;
    const request = {
      ...captureRequest(input, invocation, deps.clock, deps.limits),
      ...(hasBefore && { changes: true }),
    };
    const meanwhile = input.meanwhile && { meanwhile: input.meanwhile };
    const taken = await telling(input.session.sessionId, (hooks) =>
      takeIn(input, (upload) =>
        deps.repositories.capture(input.sandbox, request, upload, { ...meanwhile, ...hooks }),
      ),
    );
    return taken.captured;
  };
};
