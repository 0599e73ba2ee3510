/**
 * Rolls every repository of a session (or of one review copy) back to a checkpoint, by `requestId`. This
 * file resolves the request and begins the rollback. C9: the epoch goes up in the transaction that creates
 * the journal.
 */

import { askedByOf } from '../../../contract/identity.ts';
import type { RollbackAnswer } from '../../../contract/rollback-answers.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { isWalkbackError, WalkbackError } from '../../shared/errors.ts';
import { RACE, retrying } from '../../shared/retry.ts';
import { createRollbackJournal, type RollbackDeps } from '../attempt/rollback-journal.ts';
import { endedAnswer } from '../attempt/rollback-state.ts';
import type { RollbackJournal } from '../journals.ts';
import type { Checkpoint } from '../model.ts';
import { statesToBring } from '../restore/restore-plan.ts';
import { createTargetBundles } from '../restore/target-bundles.ts';
import {
  busyOf,
  headSeqOf,
  moveTimeline,
  sandboxOf,
  settledBy,
  timelineAfter,
  timelineIn,
  type WorkTimeline,
} from '../session/place.ts';
import { expiryOf } from '../session/retention.ts';
import {
  conflictingRequest,
  mayBegin,
  requireActive,
  requireFound,
  withSandboxAdvice,
} from '../session/session-rules.ts';
import { createRecovery } from '../settle/abandoned.ts';
import { createCaptureNow, createPrepare } from './prepare.ts';
import {
  chooseTarget,
  createRollbackPreview,
  type Goal,
  hashOf,
  type RollbackRequest,
  type Wanted,
} from './rollback-preview.ts';
import { type Begun, createRollbackRun } from './rollback-run.ts';

/** The engine behind every call that moves a sandbox to a checkpoint, or to a state composed for it. */
export const createRestoreEngine = (deps: RollbackDeps) => {
  const { store, sandboxes, clock } = deps;
  const run = createRollbackRun(deps);
  const settleAbandoned = createRecovery(deps);
  const { plan, preview } = createRollbackPreview(deps);
  const prepare = createPrepare(deps);
  const damageOf = createTargetBundles(deps);
  const captureNow = createCaptureNow(deps);
  const { noteCapture } = createRollbackJournal(deps);

  /** The journal and the write to the timeline that begin a rollback. */
  const beginning = (input: Wanted, place: WorkTimeline, goal: Goal, invocation: Invocation) => {
    const { session, copy } = place;
    const now = clock.now().toISOString();
    const detached = copy !== undefined;
    const epoch = detached ? session.epoch : session.epoch + 1;
    const journal: RollbackJournal = {
      sessionId: session.sessionId,
      requestId: input.requestId,
      requestHash: input.hash,
      phase: 'started',
      epoch,
      sandboxId: sandboxOf(place),
      detached,
      filesOnly: input.filesOnly ?? false,
      allowPartial: input.allowPartial ?? false,
      ...('target' in goal
        ? { targetSeq: goal.target.seq }
        : { targetSeq: 0, composition: goal.composition }),
      captures: 0,
      ...(input.by !== undefined && { by: askedByOf(input.by) }),
      startedAt: now,
      updatedAt: now,
      expiresAt: expiryOf(session, clock),
    };
    const busy = { kind: 'rollback', requestId: input.requestId, untilMs: invocation.deadlineMs } as const;
    return { journal, move: moveTimeline(place, { busy, epoch }, clock) };
  };

  const begin = async (input: Wanted, place: WorkTimeline, goal: Goal, invocation: Invocation) => {
    const { journal, move } = beginning(input, place, goal, invocation);
    const outcome = await store.beginRollback(journal, move);
    return outcome.written ? { journal, place: timelineAfter(place, move) } : undefined;
  };

  /**
   * Looks at the sandbox, and begins with that first capture, in one transaction. The sandbox says what it
   * lacks of the target, so only that is looked at in the store. Undefined: the timeline moved meanwhile.
   */
  const lookAndBegin = async (
    input: Wanted,
    place: WorkTimeline,
    target: Checkpoint,
    invocation: Invocation,
  ): Promise<Begun | undefined> => {
    const { sessionId } = place.session;
    const [sandbox, head] = await Promise.all([
      sandboxes.open(sandboxOf(place), { fresh: true }),
      store.getCheckpoint(sessionId, headSeqOf(place)),
    ]);
    const { journal, move } = beginning(input, place, { target }, invocation);
    const attempt = { journal, place, target, head, sandbox, mixed: false, round: 0, invocation };
    const taken = await captureNow(attempt).catch(async (error: unknown) => {
      if (!isWalkbackError(error, 'CaptureFailed')) throw error;
      // The store may have lost what the capture builds on, and what the target needs with it. The plan tells.
      const lost = await damageOf(target, { sandboxId: sandboxOf(place), headSeq: headSeqOf(place) });
      if (lost !== undefined) await plan(input, place, { target }, invocation);
      throw error;
    });
    const lacking = statesToBring(target.repositories, taken.captured);
    const damage = lacking.length === 0 ? undefined : await damageOf(target, { lacking });
    // What it said was a quick look. If it does lack them, the plan throws the problem.
    if (damage !== undefined) await plan(input, place, { target }, invocation);
    // Where nothing has to be brought, the command that writes is the next thing that is sent.
    const phase = lacking.length === 0 ? 'writing' : 'started';
    const begun = { from: place, phase } as const;
    const noted = await noteCapture(journal, timelineAfter(place, move), head, taken.captured, begun);
    if (noted === undefined) return undefined;
    const looked = { ...taken, sandbox, target, head, checkpoint: noted.checkpoint };
    return { journal: noted.journal, place: noted.place, looked };
  };

  /** An answer, or undefined when the timeline moved and everything must be read again. */
  const attempt = async (
    input: Wanted,
    invocation: Invocation,
    count: number,
  ): Promise<RollbackAnswer | undefined> => {
    const { sessionId, requestId } = input;
    const { session, rollback: journal } = await store.getItems(sessionId, {
      session: true,
      rollback: requestId,
    });
    if (journal !== undefined && journal.requestHash !== input.hash) throw conflictingRequest(requestId);
    const ended = journal === undefined ? undefined : endedAnswer(journal);
    if (ended !== undefined) return ended;
    if (journal !== undefined && input.dryRun !== true) return run(sessionId, requestId, invocation);
    const place = await timelineIn(store, requireFound(session, sessionId), input.sandboxId);
    if (place.copy === undefined) {
      requireActive(place.session);
      // C9. Until the request begins, the version that was read here fences it.
      const begun = () => store.getRollback(sessionId, requestId);
      if (journal === undefined && !(await mayBegin(place.session, input.epoch, begun))) return undefined;
    }
    if (input.dryRun === true) {
      const look = () => preview(input, place, journal, invocation);
      return withSandboxAdvice(place.session, look, sandboxOf(place));
    }
    const goal = await input.choose(place);
    if (busyOf(place) !== undefined) {
      await settleAbandoned(place, settledBy('rollback', requestId), invocation);
      return undefined;
    }
    const work = async () => {
      // A timeline that moved meanwhile is held before it is looked at, so that a session at work cannot keep a
      // rollback from beginning.
      if ('target' in goal && count === 0) {
        const begun = await lookAndBegin(input, place, goal.target, invocation);
        return begun === undefined ? undefined : run(sessionId, requestId, invocation, begun);
      }
      // Finds out that the sandbox or a bundle is gone before the epoch moves.
      const [damage] = await Promise.all([
        'target' in goal
          ? damageOf(goal.target, { sandboxId: sandboxOf(place), headSeq: headSeqOf(place) })
          : undefined,
        sandboxes.open(sandboxOf(place), { fresh: true }),
      ]);
      // The sandbox may still have objects that the store has lost. If it does not, the plan throws the
      // problem.
      if (damage !== undefined) await plan(input, place, goal, invocation);
      const prepared =
        'composition' in goal ? await prepare(requestId, place, goal.composition, invocation) : undefined;
      const begun = await begin(input, place, goal, invocation);
      return begun === undefined ? undefined : run(sessionId, requestId, invocation, { ...begun, prepared });
    };
    return withSandboxAdvice(place.session, work, sandboxOf(place));
  };

  return async (input: Wanted, invocation: Invocation): Promise<RollbackAnswer> => {
    const result = await retrying(RACE, clock, (count) => attempt(input, invocation, count));
    if (result !== undefined) return result;
    throw new WalkbackError(
      'Throttled',
      `Session "${input.sessionId}" is being written by others all the time; the rollback was not begun. Call again.`,
      { retryable: true, details: { sessionId: input.sessionId } },
    );
  };
};

export const createRollback = (deps: RollbackDeps) => {
  const move = createRestoreEngine(deps);
  return (input: RollbackRequest, invocation: Invocation): Promise<RollbackAnswer> =>
    move(
      {
        ...input,
        hash: hashOf(input),
        choose: async () => {
          const target = await chooseTarget(deps.store, input);
          const { paths } = input;
          return paths === undefined
            ? { target }
            : {
                composition: {
                  kind: 'paths',
                  fromSeq: target.seq,
                  fromId: target.checkpointId,
                  paths,
                },
              };
        },
      },
      invocation,
    );
};
