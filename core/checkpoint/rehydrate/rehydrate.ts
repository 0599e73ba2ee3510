/**
 * Rebuilds a checkpoint in a fresh sandbox: a detached copy to look at (`review`), or the session's new
 * home (`resume`). Keeps C7 (only table and bucket are needed), and leaves no unknown sandbox behind.
 */
import type { RehydrateAnswer } from '../../../contract/checkpoint-answers.ts';
import type { RehydrateInput } from '../../../contract/checkpoint-inputs.ts';
import { firstLines } from '../../shared/bounded.ts';
import { commandTimeout, type Invocation } from '../../shared/deadline.ts';
import { isWalkbackError, WalkbackError } from '../../shared/errors.ts';
import { timeSortableId } from '../../shared/ids.ts';
import type { RollbackDeps } from '../attempt/rollback-journal.ts';
import type { RehydrateJournal } from '../journals.ts';
import type { Checkpoint, Session } from '../model.ts';
import type { BundleSource } from '../ports/restore.ts';
import type { ExecutionAdapter } from '../ports/sandbox.ts';
import { createBundleSources } from '../restore/bundle-sources.ts';
import { isInterrupted, problemText, restoreError } from '../restore/restore-errors.ts';
import { notAtTarget, planFresh, restoreRequest } from '../restore/restore-plan.ts';
import { createTellingRestore } from '../restore/telling-restore.ts';
import { settledBy, settledIn } from '../session/place.ts';
import { rehydrateTags } from '../session/rehydrate-tags.ts';
import { keepCheckpoint } from '../session/retention.ts';
import { conflictingRequest, requireSession } from '../session/session-rules.ts';
import { findTarget, halfWrittenWarnings } from '../timeline/targets.ts';
import { createBeginRehydrate, rehydrateHash } from './begin-rehydrate.ts';
import { createRehydrateHold } from './rehydrate-hold.ts';
import { createRehydrateJournal, endedRehydrate } from './rehydrate-journal.ts';
import { createTwins } from './rehydrate-twins.ts';

export type RehydrateDeps = RollbackDeps & { random: () => string };

const failedToRestore = (outcome: string, problems: { path: string; message: string }[]): WalkbackError => {
  return new WalkbackError(
    'RehydrateFailed',
    `The checkpoint could not be rebuilt (${outcome}): ${problemText(problems)}. The sandbox was removed. Try another checkpoint, or a new requestId.`,
    { details: { problems: problems.slice(0, 100) } },
  );
};

/** A sandbox that another call left may end at any moment; that call may just be killing it. */
const errorOfGone = (error: unknown): WalkbackError => {
  if (isWalkbackError(error, 'SandboxNotFound')) return error;
  throw error;
};

/** Room for warnings in the journal. */
const TOLD = { count: 200, bytes: 48 * 1024 };

export const createRehydrate = (deps: RehydrateDeps) => {
  const { store, sandboxes, clock, log, random } = deps;
  const restoreIn = createTellingRestore(deps);
  const bundleSources = createBundleSources(deps);
  const begin = createBeginRehydrate(deps);
  const writes = createRehydrateJournal(deps);
  const hold = createRehydrateHold(deps);
  const twinSandboxes = createTwins(deps);

  const create = ({ sessionId, requestId, template, sandboxTimeoutMs }: RehydrateJournal) =>
    sandboxes.create({ template, tags: rehydrateTags(sessionId, requestId), timeoutMs: sandboxTimeoutMs });

  /** The sandbox of a lost answer, if there is one. If there are several, they can only be leftovers. */
  const findLost = async (journal: RehydrateJournal): Promise<ExecutionAdapter | undefined> => {
    if (journal.attempt === 1) return undefined;
    const [first, ...rest] = await sandboxes.find(rehydrateTags(journal.sessionId, journal.requestId));
    for (const { sandboxId } of rest) await sandboxes.kill(sandboxId);
    if (first === undefined) return undefined;
    try {
      return await sandboxes.open(first.sandboxId);
    } catch (error) {
      if (isWalkbackError(error, 'SandboxNotFound')) return undefined;
      throw error;
    }
  };

  /**
   * Reads the bundles of the target from the store. A failure reaches whoever awaits the result, and is never
   * an unhandled rejection.
   */
  const readBundles = (session: Session, target: Checkpoint): Promise<Map<string, BundleSource[]>> => {
    const held = target.repositories.filter(
      ({ state, commit }) => state !== 'absent' && commit !== undefined,
    );
    const bundles = bundleSources(session.sessionId, held);
    bundles.catch(() => undefined);
    return bundles;
  };

  const restore = async (
    session: Session,
    target: Checkpoint,
    bundles: Promise<Map<string, BundleSource[]>>,
    sandbox: ExecutionAdapter,
    invocation: Invocation,
    fresh: boolean,
  ): Promise<{ warnings: string[] } | WalkbackError> => {
    const plan = planFresh(target.repositories, await bundles);
    const timeoutMs = commandTimeout(invocation, clock);
    const how = { filesOnly: false, dryRun: false, fresh, timeoutMs };
    const report = await restoreIn(sandbox, restoreRequest(session, how, plan.repositories));
    // An interruption is never the checkpoint's fault. The request stays open, and the next call begins
    // with its own sandbox.
    if (isInterrupted(report)) throw restoreError(report);
    if (report.outcome !== 'applied') return failedToRestore(report.outcome, report.problems);
    const astray = notAtTarget(plan.repositories, report);
    if (astray.length > 0) {
      return failedToRestore(
        'astray',
        astray.map((path) => ({ path, message: 'what was read back is not what was captured' })),
      );
    }
    return { warnings: [...plan.warnings, ...report.warnings] };
  };

  const work = async (begun: RehydrateJournal, invocation: Invocation): Promise<RehydrateAnswer> => {
    let journal = begun;
    let sandbox: ExecutionAdapter | undefined;
    let twins: Promise<string[]> = Promise.resolve([]);
    try {
      const session = await requireSession(store, begun.sessionId);
      const target = await findTarget(store, begun.sessionId, {}, begun.targetSeq);
      // Reading overlaps with making the sandbox, which takes about as long.
      const bundles = readBundles(session, target);
      const lost = await findLost(journal);
      sandbox = lost ?? (await create(journal));
      journal = await writes.noteSandbox(journal, sandbox.sandboxId);
      twins = twinSandboxes.find(journal, sandbox.sandboxId);
      const restoring = restore(session, target, bundles, sandbox, invocation, lost === undefined);
      let restored = await (lost === undefined ? restoring : restoring.catch(errorOfGone));
      if (restored instanceof WalkbackError && lost !== undefined) {
        // The call died, and its sandbox may be half restored, or gone. A new one is safer than a repair.
        await sandboxes.kill(lost.sandboxId);
        sandbox = await create(journal);
        journal = await writes.noteSandbox(journal, sandbox.sandboxId);
        restored = await restore(session, target, bundles, sandbox, invocation, true);
      }
      if (restored instanceof WalkbackError) throw restored;
      await keepCheckpoint(store, session, target, clock);
      const { sandboxId } = sandbox;
      const warnings = firstLines(
        [...halfWrittenWarnings(target), ...restored.warnings],
        TOLD,
        (left) => `${left} more warnings`,
      );
      const answer = (epoch: number): RehydrateAnswer => ({
        sandboxId,
        checkpointId: target.checkpointId,
        epoch,
        projectsRoot: session.projectsRoot,
        repositories: target.repositories.flatMap(({ path, state, commit, tree, branch, head }) =>
          state === 'absent' || commit === undefined || tree === undefined
            ? []
            : [{ path, commit, tree, branch, head }],
        ),
        warnings,
        ...settledIn({ session }, settledBy('rehydrate', journal.requestId)),
      });
      const result = await writes.finish(journal, answer, sandboxId);
      // Only now is it certain that none of these sandboxes belongs to another attempt.
      if (result.sandboxId === sandboxId) await twinSandboxes.kill(await twins);
      return result;
    } catch (error) {
      const given = await writes.giveUp(journal, error);
      if (given !== true) return given;
      log.warn('rehydrate failed', { requestId: journal.requestId, sandboxId: sandbox?.sandboxId });
      await twinSandboxes.kill(await twins);
      if (sandbox !== undefined) await sandboxes.kill(sandbox.sandboxId);
      throw error;
    }
  };

  const requireRunning = async (result: RehydrateAnswer, requestId: string): Promise<RehydrateAnswer> => {
    try {
      await sandboxes.open(result.sandboxId, { fresh: true });
      return result;
    } catch (error) {
      if (!isWalkbackError(error, 'SandboxNotFound')) throw error;
      throw new WalkbackError(
        'SandboxNotFound',
        `Rehydrate "${requestId}" was done, but its sandbox ${result.sandboxId} is gone or paused. Use a new requestId to build another.`,
        { cause: error, details: { requestId, sandboxId: result.sandboxId } },
      );
    }
  };

  /**
   * Looks at the request once. Answers its result, or undefined when it moved meanwhile and must be read
   * again.
   */
  const attempt = async (
    input: RehydrateInput,
    requestId: string,
    invocation: Invocation,
  ): Promise<RehydrateAnswer | undefined> => {
    const known =
      input.requestId === undefined ? undefined : await store.getRehydrate(input.sessionId, requestId);
    if (known !== undefined && known.requestHash !== rehydrateHash(input))
      throw conflictingRequest(requestId);
    const ended = known && endedRehydrate(known);
    if (ended !== undefined) return requireRunning(ended, requestId);
    if (known !== undefined && (await hold.waited(known, invocation))) return undefined;
    const journal =
      known === undefined
        ? await begin(input, requestId, invocation)
        : await writes.takeOver(known, invocation);
    return journal && hold.renewing(journal, () => work(journal, invocation));
  };

  return async (input: RehydrateInput, invocation: Invocation): Promise<RehydrateAnswer> => {
    const requestId = input.requestId ?? timeSortableId('rh', clock.now(), random());
    for (;;) {
      const answer = await attempt(input, requestId, invocation);
      if (answer !== undefined) return answer;
    }
  };
};
