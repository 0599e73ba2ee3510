/**
 * Rebuilds a checkpoint in a fresh sandbox: a detached copy to look at (`review`), or the session's new home
 * (`resume`). Keeps C7 (only table and bucket are needed) and leaves no sandbox behind that nobody was told of.
 */
import { isWalkbackError, WalkbackError } from '../errors.ts';
import { timeSortableId } from '../ids.ts';
import type { ExecutionAdapter } from '../ports.ts';
import { createRecovery } from './abandoned.ts';
import { createBundleSources } from './bundle-sources.ts';
import { touch } from './checkpoint-item.ts';
import { commandTimeout, type Invocation } from './deadline.ts';
import { createGiveUpRollback } from './give-up-rollback.ts';
import type { Checkpoint, RehydrateJournal, RehydrateResult, Session } from './model.ts';
import { createRehydrateJournal, endedRehydrate } from './rehydrate-journal.ts';
import { rehydrateTags } from './rehydrate-tags.ts';
import { requestHash } from './request-hash.ts';
import { notAtTarget, planFresh, restoreRequest } from './restore-plan.ts';
import { expiryOf, keepCheckpoint } from './retention.ts';
import type { RollbackDeps } from './rollback-run.ts';
import { DEFAULTS, type RehydrateInput } from './schemas.ts';
import { conflictingRequest, requireActive, requireSession } from './session-rules.ts';
import { findTarget } from './targets.ts';

const MAX_ATTEMPTS = 6;

export type RehydrateDeps = RollbackDeps & { random: () => string };

const hashOf = (input: RehydrateInput): string =>
  requestHash({
    messageId: input.messageId,
    checkpointId: input.checkpointId,
    mode: input.mode ?? 'review',
    template: input.template,
    timeoutMs: input.timeoutMs,
  });

const failedToRestore = (outcome: string, problems: { path: string; message: string }[]): WalkbackError => {
  const listed = problems.slice(0, 10).map(({ path, message }) => `${path}: ${message}`);
  return new WalkbackError(
    'RehydrateFailed',
    `The checkpoint could not be rebuilt (${outcome}): ${listed.join('; ')}. The sandbox was removed. Try another checkpoint, or a new requestId.`,
    { details: { problems: problems.slice(0, 100) } },
  );
};

export const createRehydrate = (deps: RehydrateDeps) => {
  const { store, sandboxes, repositories, clock, log, random } = deps;
  const bundleSources = createBundleSources(deps);
  const finishAbandoned = createRecovery(deps);
  const giveUpRollback = createGiveUpRollback(deps);
  const writes = createRehydrateJournal(deps);

  /** A resume leaves the old sandbox behind, so a rollback that can not be finished there does not hold it up. */
  const free = async (session: Session, invocation: Invocation): Promise<void> => {
    try {
      await finishAbandoned(session, invocation);
    } catch (error) {
      if (isWalkbackError(error, 'RollbackInProgress')) throw error;
      await giveUpRollback(session, error);
    }
  };

  const begin = async (
    input: RehydrateInput,
    requestId: string,
    invocation: Invocation,
  ): Promise<RehydrateJournal> => {
    const mode = input.mode ?? 'review';
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const session = await requireSession(store, input.sessionId);
      if (mode === 'resume') requireActive(session);
      const target = await findTarget(store, session.sessionId, input, session.headSeq);
      if (mode === 'resume' && session.busy !== undefined) {
        await free(session, invocation);
        continue;
      }
      const now = clock.now().toISOString();
      const journal: RehydrateJournal = {
        sessionId: session.sessionId,
        requestId,
        requestHash: hashOf(input),
        phase: 'started',
        mode,
        targetSeq: target.seq,
        attempt: 1,
        template: input.template ?? session.template,
        sandboxTimeoutMs: input.timeoutMs ?? DEFAULTS.sandboxTimeoutMs,
        startedAt: now,
        updatedAt: now,
        expiresAt: expiryOf(session, clock),
      };
      const busy = { kind: 'resume', requestId, untilMs: invocation.deadlineMs } as const;
      const outcome = await store.createRehydrate(
        journal,
        mode === 'resume'
          ? { session: touch(session, { busy }, clock), expectedVersion: session.version }
          : undefined,
      );
      if (outcome.written) return journal;
      if ((await store.getRehydrate(session.sessionId, requestId)) !== undefined) {
        throw new WalkbackError(
          'RequestConflict',
          `Another call has just begun rehydrate "${requestId}". Call again with the same requestId for its answer.`,
          { retryable: true, details: { requestId } },
        );
      }
      await clock.sleep(20 * 2 ** attempt);
    }
    throw new WalkbackError('Throttled', 'The session is being written by others all the time. Call again.', {
      retryable: true,
    });
  };

  const create = ({ sessionId, requestId, template, sandboxTimeoutMs }: RehydrateJournal) =>
    sandboxes.create({ template, tags: rehydrateTags(sessionId, requestId), timeoutMs: sandboxTimeoutMs });

  /** The sandbox of an answer that was lost, if there is one; more than one can only be leftovers. */
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

  const restore = async (
    session: Session,
    journal: RehydrateJournal,
    target: Checkpoint,
    sandbox: ExecutionAdapter,
    invocation: Invocation,
  ): Promise<{ warnings: string[] } | WalkbackError> => {
    const held = target.repositories.filter(
      ({ state, commit }) => state !== 'absent' && commit !== undefined,
    );
    const sources = await bundleSources(session.sessionId, held);
    const plan = planFresh(target.repositories, sources);
    const { requestId } = journal;
    const timeoutMs = commandTimeout(invocation, clock);
    const how = { requestId, filesOnly: false, dryRun: false, timeoutMs };
    const report = await repositories.restore(sandbox, restoreRequest(session, how, plan.repositories));
    if (report.outcome !== 'applied') return failedToRestore(report.outcome, report.problems);
    const astray = notAtTarget(plan.repositories, report);
    if (astray.length > 0) {
      return failedToRestore(
        'astray',
        astray.map((path) => ({ path, message: 'its files are not the captured ones' })),
      );
    }
    return { warnings: [...plan.warnings, ...report.warnings] };
  };

  const work = async (begun: RehydrateJournal, invocation: Invocation): Promise<RehydrateResult> => {
    let journal = begun;
    let sandbox: ExecutionAdapter | undefined;
    try {
      const session = await requireSession(store, begun.sessionId);
      const target = await findTarget(store, begun.sessionId, {}, begun.targetSeq);
      const lost = await findLost(journal);
      sandbox = lost ?? (await create(journal));
      journal = await writes.noteSandbox(journal, sandbox.sandboxId);
      let restored = await restore(session, journal, target, sandbox, invocation);
      if (restored instanceof WalkbackError && lost !== undefined) {
        // A sandbox that was half restored by a call that died is not worth mending.
        await sandboxes.kill(lost.sandboxId);
        sandbox = await create(journal);
        journal = await writes.noteSandbox(journal, sandbox.sandboxId);
        restored = await restore(session, journal, target, sandbox, invocation);
      }
      if (restored instanceof WalkbackError) throw restored;
      await keepCheckpoint(store, session, target, clock);
      const { sandboxId } = sandbox;
      const { warnings } = restored;
      const answer = (epoch: number): RehydrateResult => ({
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
      });
      return await writes.finish(journal, answer, sandboxId);
    } catch (error) {
      const given = await writes.giveUp(journal, error);
      if (given !== true) return given;
      log.warn('rehydrate failed', { requestId: journal.requestId, sandboxId: sandbox?.sandboxId });
      if (sandbox !== undefined) await sandboxes.kill(sandbox.sandboxId);
      throw error;
    }
  };

  const requireRunning = async (result: RehydrateResult, requestId: string): Promise<RehydrateResult> => {
    try {
      await sandboxes.open(result.sandboxId);
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

  return async (input: RehydrateInput, invocation: Invocation): Promise<RehydrateResult> => {
    const requestId = input.requestId ?? timeSortableId('rh', clock.now(), random());
    const known =
      input.requestId === undefined ? undefined : await store.getRehydrate(input.sessionId, requestId);
    if (known === undefined) return work(await begin(input, requestId, invocation), invocation);
    if (known.requestHash !== hashOf(input)) throw conflictingRequest(requestId);
    const ended = endedRehydrate(known);
    if (ended !== undefined) return requireRunning(ended, requestId);
    return work(await writes.takeOver(known, invocation), invocation);
  };
};
