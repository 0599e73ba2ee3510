/**
 * Drives one rollback that has begun to its end, both for the call that began it and for the same request
 * after a crash. Rollbacks that no call asks for any more are handled in settle-rollback.ts.
 *
 * C3: nothing is written before the capture of "now" is committed. C1: the journal ends with every
 * repository at the target (`done`) or at the undo capture (`failed`). When neither can be reached it stays
 * open and busy.
 */

import type { RollbackAnswer } from '../../../contract/rollback-answers.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { isWalkbackError } from '../../shared/errors.ts';
import { pauseAfterRace } from '../../shared/retry.ts';
import { createRollbackJournal, type RollbackDeps } from '../attempt/rollback-journal.ts';
import { copyOf, endedAnswer, mayHaveWritten } from '../attempt/rollback-state.ts';
import type { RollbackJournal } from '../journals.ts';
import type { Checkpoint } from '../model.ts';
import type { ExecutionAdapter } from '../ports/sandbox.ts';
import { changedError, isSeenNext, unfinished } from '../restore/restore-errors.ts';
import { bringMissing, statesToBring } from '../restore/restore-plan.ts';
import { findTimeline, headSeqOf, holdTimeline, type WorkTimeline } from '../session/place.ts';
import { findTarget } from '../timeline/targets.ts';
import { createComposeTarget } from './compose-target.ts';
import { type Attempt, type CaptureResult, createCaptureNow, type Prepared } from './prepare.ts';
import { type CommittedAttempt, createRollbackOutcome } from './rollback-outcome.ts';

/**
 * Number of fresh captures before the rollback gives up, when the sandbox keeps changing or other calls
 * keep writing the session.
 */
const MAX_ATTEMPTS = 5;

/** What a rollback goes to, and the timeline as the write before left it. */
interface Goal {
  journal: RollbackJournal;
  target: Checkpoint;
  place: WorkTimeline;
}

/**
 * What the call that just began a rollback wrote, and what it had prepared. `looked`: it began with its first
 * capture, so the journal names that already.
 */
export interface Begun {
  journal: RollbackJournal;
  place: WorkTimeline;
  prepared?: Prepared | undefined;
  looked?: Looked | undefined;
}

/** The first capture of a rollback to a checkpoint, which was made and committed by the write that began it. */
interface Looked extends CaptureResult {
  sandbox: ExecutionAdapter;
  target: Checkpoint;
  head: Checkpoint | undefined;
  checkpoint: Checkpoint;
}

/**
 * Whether the prepared capture can be the first one: nothing was captured for this request since, and the
 * head is the same.
 */
const isFirst = (prepared: Prepared | undefined, journal: RollbackJournal, place: WorkTimeline): boolean =>
  prepared !== undefined && journal.captures === 0 && prepared.headSeq === headSeqOf(place);

export const createRollbackRun = (deps: RollbackDeps) => {
  const { store, sandboxes, clock } = deps;
  const captureNow = createCaptureNow(deps);
  const { restoreTo, conclude, giveUp, meanwhile, notBegun } = createRollbackOutcome(deps);
  const { fail, noteCapture, letGo } = createRollbackJournal(deps);
  const composeTarget = createComposeTarget(deps);

  /**
   * The state to reach. A composed one is made from the capture of now, so each new capture composes it
   * again. Once it may have been written, it stays the same.
   */
  const goalOf = async (
    attempt: Attempt,
    journal: RollbackJournal,
    now: Checkpoint,
    last: WorkTimeline,
  ): Promise<Goal> => {
    const { target, mixed } = attempt;
    if (target !== undefined && (mixed || journal.composition === undefined))
      return { journal, target, place: last };
    return composeTarget(attempt, journal, now, last);
  };

  /** Undefined: another call was faster. Try again from the start. `noted`: the capture is committed already. */
  const apply = async (
    attempt: Attempt,
    { captured, early }: CaptureResult,
    noted?: Checkpoint,
  ): Promise<RollbackAnswer | undefined> => {
    const { place } = attempt;
    const committed =
      noted === undefined
        ? await noteCapture(attempt.journal, place, attempt.head, captured)
        : { journal: attempt.journal, checkpoint: noted, place };
    if (committed === undefined) return undefined;
    const { checkpoint: now } = committed;
    let goal: Goal;
    try {
      goal = await goalOf(attempt, committed.journal, now, committed.place);
    } catch (error) {
      if (!isWalkbackError(error) || error.retryable) throw error;
      return fail(committed.journal, error, now.seq);
    }
    const { journal, target } = goal;
    const isUndo = journal.undoSeq === now.seq;
    const undo = isUndo ? now : await findTarget(store, journal.sessionId, {}, journal.undoSeq);
    const ready: CommittedAttempt = { ...attempt, journal, target, now, undo, early, last: goal.place };
    const wanted = statesToBring(target.repositories, captured);
    const [restored, others] = await Promise.allSettled([
      bringMissing(target.repositories, wanted, (states) => restoreTo(target, ready, states)),
      meanwhile(ready),
    ]);
    if (restored.status === 'rejected') return notBegun(ready, restored.reason);
    const { report } = restored.value;
    const { missingTargets } = captured;
    const isNext = isSeenNext(report, { wasComposed: attempt.target === undefined, missingTargets });
    return isNext ? undefined : conclude(ready, restored.value, others);
  };

  const drive = async (
    sessionId: string,
    requestId: string,
    invocation: Invocation,
    begun: Begun | undefined,
  ): Promise<RollbackAnswer> => {
    const looked = begun?.looked;
    // The journal of a call that began with its capture says already that it may write.
    let mixed: boolean | undefined = looked === undefined ? undefined : false;
    for (let round = 0; round < MAX_ATTEMPTS; round++) {
      const known = round === 0 ? begun : undefined;
      const journal = known?.journal ?? (await store.getRollback(sessionId, requestId));
      if (journal === undefined) throw unfinished(requestId, 'its journal is gone.');
      const answer = endedAnswer(journal);
      if (answer !== undefined) return answer;
      mixed ??= mayHaveWritten(journal);

      if (known !== undefined && looked !== undefined) {
        const { place } = known;
        const attempt = { journal, place, ...looked, mixed: false, round, invocation };
        const result = await apply(attempt, looked, looked.checkpoint);
        if (result !== undefined) return result;
        await pauseAfterRace(clock, round);
        continue;
      }

      const found = known?.place ?? (await findTimeline(store, sessionId, copyOf(journal)));
      const place = await holdTimeline(store, found, { requestId, untilMs: invocation.deadlineMs }, clock);
      if (place === 'raced') continue;
      if (place === 'lost') return fail(journal, changedError());

      let attempt: Attempt;
      let taken: CaptureResult;
      try {
        const { targetSeq } = journal;
        const [sandbox, target, head] = await Promise.all([
          sandboxes.open(journal.sandboxId),
          targetSeq === 0 ? undefined : findTarget(store, sessionId, {}, targetSeq),
          store.getCheckpoint(sessionId, headSeqOf(place)),
        ]);
        const first = isFirst(known?.prepared, journal, place) ? known?.prepared : undefined;
        const composed = first?.composed;
        attempt = { journal, place, target, head, sandbox, mixed, round, invocation, composed };
        taken =
          first === undefined ? await captureNow(attempt) : { captured: first.captured, early: undefined };
      } catch (error) {
        return giveUp(journal, mixed, error);
      }
      const result = await apply(attempt, taken);
      if (result !== undefined) return result;
      await pauseAfterRace(clock, round);
    }
    const journal = await store.getRollback(sessionId, requestId);
    if (journal !== undefined && mixed === false) return fail(journal, changedError());
    throw unfinished(requestId, changedError().message);
  };

  /** `begun`: set when this same call began the rollback. */
  return async (
    sessionId: string,
    requestId: string,
    invocation: Invocation,
    begun?: Begun,
  ): Promise<RollbackAnswer> => {
    try {
      return await drive(sessionId, requestId, invocation, begun);
    } catch (error) {
      if (isWalkbackError(error)) await letGo(sessionId, requestId, invocation);
      throw error;
    }
  };
};
