/**
 * Begins a new session at a checkpoint of another (W1). The checkpoint is rebuilt in a fresh sandbox, and its
 * first capture there begins new chains on the bases of the source. So no history is sent again, and the fork
 * lives as long as it needs, whatever happens to its source.
 */
import type { ForkSessionAnswer } from '../../../contract/checkpoint-answers.ts';
import type { ForkSessionInput } from '../../../contract/checkpoint-inputs.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { isWalkbackError, WalkbackError } from '../../shared/errors.ts';
import { BASELINE_TOOL_ID, sha256Hex } from '../../shared/ids.ts';
import { createCapture } from '../capture/capture.ts';
import { createCheckpoint } from '../capture/checkpoint-item.ts';
import type { Checkpoint, Session } from '../model.ts';
import { createRehydrate, type RehydrateDeps } from '../rehydrate/rehydrate.ts';
import { HOLDS_NOTHING } from '../restore/restore-plan.ts';
import { createContext } from '../session/context.ts';
import { baseOwnerOf, forkNameOf } from '../session/keys.ts';
import { requestHash } from '../session/request-hash.ts';
import { expiryOf } from '../session/retention.ts';
import { countPresent } from '../session/session-item.ts';
import { requireActive, requireSession } from '../session/session-rules.ts';
import { findTarget, halfWrittenWarnings, requireComplete } from '../timeline/targets.ts';

/**
 * Ids that follow from the request, so that a repeated request finds its fork: the id of the session, and of
 * the rebuild of its sandbox.
 */
export const forkIds = (sessionId: string, requestId: string): { forkId: string; rebuildId: string } => {
  const name = `fork-${sha256Hex(`${sessionId}\n${requestId}`).slice(0, 20)}`;
  return { forkId: name, rebuildId: name };
};

export const createForkSession = (deps: RehydrateDeps) => {
  const { store, sandboxes, clock, log } = deps;
  const rehydrate = createRehydrate(deps);
  const capture = createCapture(deps);
  const context = createContext(deps);

  const answerOf = async (
    fork: Session,
    guidance: string | undefined,
    invocation: Invocation,
  ): Promise<ForkSessionAnswer> => {
    const { sessionId, forkedFrom } = fork;
    const baseline = await store.findCheckpointByTool(sessionId, BASELINE_TOOL_ID);
    if (baseline === undefined || forkedFrom === undefined) {
      throw new WalkbackError(
        'SessionConflict',
        `Session "${sessionId}" is no fork whose first checkpoint is left. Use a new requestId.`,
      );
    }
    const { prompt } = await context({ sessionId }, invocation);
    return {
      sessionId,
      sandboxId: fork.sandboxId,
      checkpointId: baseline.checkpointId,
      epoch: fork.epoch,
      projectsRoot: fork.projectsRoot,
      ...(fork.project !== undefined && { project: fork.project }),
      prompt: guidance === undefined ? prompt : `${guidance}\n\n${prompt}`,
      forkedFrom: { sessionId: forkedFrom.sessionId, checkpointId: forkedFrom.checkpointId },
      repositories: baseline.repositories.map(({ path, commit, branch, head }) => ({
        path,
        commit: commit ?? null,
        branch: branch ?? null,
        head: head ?? null,
      })),
      warnings: [
        ...(baseline.repositories.length === 0 ? [HOLDS_NOTHING] : []),
        ...halfWrittenWarnings(baseline),
        ...[...baseline.failures, ...baseline.skipped].map(({ path, reason }) => `${path}: ${reason}`),
      ],
    };
  };

  const draft = (
    source: Session,
    target: Checkpoint,
    input: ForkSessionInput,
    about: { sessionId: string; sandboxId: string; hash: string },
  ): Session => {
    const now = clock.now().toISOString();
    const { projectsRoot, include, exclude, maxFileBytes, retentionDays, tenant } = source;
    const template = input.template ?? source.template;
    const project = input.project ?? source.project;
    return {
      sessionId: about.sessionId,
      epoch: 1,
      version: 1,
      isLine: true,
      seq: 0,
      headSeq: 0,
      messageCount: 0,
      lines: { added: 0, deleted: 0 },
      repositoryCount: 0,
      sandboxId: about.sandboxId,
      projectsRoot,
      ...(template !== undefined && { template }),
      include,
      exclude,
      maxFileBytes,
      retentionDays,
      metadata: input.metadata ?? {},
      ...(tenant !== undefined && { tenant }),
      ...(project !== undefined && { project }),
      baseOwner: baseOwnerOf(source),
      forkedFrom: { sessionId: source.sessionId, seq: target.seq, checkpointId: target.checkpointId },
      status: 'active',
      requestHash: about.hash,
      createdAt: now,
      updatedAt: now,
      expiresAt: expiryOf(source, clock),
    };
  };

  /** Commits the fork and its first checkpoint. Another call may have been faster. */
  const begin = async (draftOf: Session, target: Checkpoint, invocation: Invocation): Promise<Session> => {
    const sandbox = await sandboxes.open(draftOf.sandboxId);
    const about = { toolExecutionId: BASELINE_TOOL_ID, messageId: null, reason: 'baseline' };
    const head = { repositories: target.repositories.filter(({ state }) => state === 'captured') };
    const captured = await capture(
      { session: draftOf, sandbox, head, startsOver: true, ...about },
      invocation,
    );
    const baseline = createCheckpoint(
      {
        ...about,
        session: draftOf,
        captured,
        parentSeq: null,
        parent: undefined,
        messageOrder: null,
        sandboxId: draftOf.sandboxId,
        detached: false,
        forkedFrom: { sessionId: target.sessionId, seq: target.seq },
        halfWritten: target.halfWritten,
      },
      clock,
    );
    const started = {
      ...draftOf,
      seq: baseline.seq,
      headSeq: baseline.seq,
      repositoryCount: countPresent(baseline.repositories),
    };
    const outcome = await store.createSession(started, baseline);
    if (outcome.written) return started;
    return outcome.existing ?? requireSession(store, draftOf.sessionId);
  };

  const adopt = (fork: Session, hash: string): Session => {
    if (fork.requestHash !== hash) {
      throw new WalkbackError(
        'RequestConflict',
        `A fork was made with this requestId before, with another meaning. Use a new requestId for another fork.`,
      );
    }
    requireActive(fork);
    return fork;
  };

  return async (input: ForkSessionInput, invocation: Invocation): Promise<ForkSessionAnswer> => {
    const { sessionId, requestId, guidance } = input;
    const { requestId: _, guidance: __, ...meaning } = input;
    const hash = requestHash({ kind: 'fork', ...meaning });
    const forkId = forkNameOf(sessionId, requestId);
    const known = await store.getSession(forkId);
    if (known !== undefined) return answerOf(adopt(known, hash), guidance, invocation);

    const source = await requireSession(store, sessionId);
    // An earlier call that died may have begun from an older head.
    const begun = await store.getRehydrate(sessionId, forkId);
    const target = await findTarget(
      store,
      sessionId,
      begun === undefined ? input : {},
      begun?.targetSeq ?? source.headSeq,
    );
    await requireComplete(store, target);
    const { sandboxId } = await rehydrate(
      {
        sessionId,
        checkpointId: target.checkpointId,
        mode: 'review',
        requestId: forkId,
        ...(input.template !== undefined && { template: input.template }),
        ...(input.timeoutMs !== undefined && { timeoutMs: input.timeoutMs }),
      },
      invocation,
    );
    try {
      const fork = await begin(
        draft(source, target, input, { sessionId: forkId, sandboxId, hash }),
        target,
        invocation,
      );
      log.info('session forked', { sessionId: forkId, from: sessionId });
      return await answerOf(adopt(fork, hash), guidance, invocation);
    } catch (error) {
      // An error that the same request would meet again must leave no sandbox behind. After any other error,
      // the next try continues in this sandbox.
      const isOver =
        isWalkbackError(error) && !error.retryable && (await store.getSession(forkId)) === undefined;
      if (isOver) await sandboxes.kill(sandboxId).catch(() => undefined);
      throw error;
    }
  };
};
