/**
 * Settles an abandoned rollback, on behalf of a call that did not ask to roll back.
 *
 * Such a call never begins to write. A rollback that wrote nothing is closed. One that may have written is
 * examined path by path where its undo and its target differ. What holds the target's state goes back to the
 * undo. All work done since stays. The present state becomes a checkpoint before anything is written (C3).
 */

import type { Busy } from '../../../contract/checkpoint-answers.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { isWalkbackError } from '../../shared/errors.ts';
import { pauseAfterRace } from '../../shared/retry.ts';
import { createLateWrites } from '../attempt/late-writes.ts';
import { createRollbackJournal, type RollbackDeps } from '../attempt/rollback-journal.ts';
import { isOpen, mayHaveWritten, nextCapture } from '../attempt/rollback-state.ts';
import { createCapture } from '../capture/capture.ts';
import type { RollbackJournal } from '../journals.ts';
import type { Checkpoint } from '../model.ts';
import { isInterrupted, restoreError, unfinished } from '../restore/restore-errors.ts';
import {
  busyOf,
  findTimeline,
  headSeqOf,
  holdTimeline,
  moveTimeline,
  type WorkTimeline,
  writeTimeline,
} from '../session/place.ts';
import { findTarget } from '../timeline/targets.ts';
import { createSettleRestore } from './settle-restore.ts';
import { abandonedError, type SettledFacts, settledRollback } from './settled-rollback.ts';

/** Number of looks at a sandbox that keeps changing. After that, the next call tries again. */
const MAX_ATTEMPTS = 5;

/** Repositories that could not be read. Nothing was written into them now. */
const unread = ({ repositories }: Checkpoint): string[] =>
  repositories.filter(({ state }) => state === 'failed').map(({ path }) => `${path} (could not be read)`);

export const createSettleRollback = (deps: RollbackDeps) => {
  const { store, sandboxes, clock, log } = deps;
  const { close, noteCapture, letGo } = createRollbackJournal(deps);
  const capture = createCapture(deps);
  const settleTo = createSettleRestore(deps);
  const keepLate = createLateWrites(deps);

  /**
   * Ends it as a rollback that did not happen. `headSeq`: the checkpoint that the sandbox stands on, if it
   * was looked at.
   */
  const abandon = async (journal: RollbackJournal, facts: SettledFacts, headSeq?: number): Promise<void> => {
    const settled = settledRollback(journal, facts, clock);
    log.warn('abandoned rollback settled', { requestId: journal.requestId, outcome: settled.outcome });
    await close({ ...journal, settled }, abandonedError(settled), headSeq);
  };

  /** False: another call was faster or the sandbox changed, so look again. */
  const settleWritten = async (
    journal: RollbackJournal,
    place: WorkTimeline,
    by: string,
    invocation: Invocation,
  ): Promise<boolean> => {
    const { sessionId, sandboxId } = journal;
    const sandbox = await sandboxes.open(sandboxId);
    const target = await findTarget(store, sessionId, {}, journal.targetSeq);
    const head = await store.getCheckpoint(sessionId, headSeqOf(place));
    // Also where some repository cannot be read. One that is not captured is not written.
    const captured = await capture(nextCapture({ journal, place, target, head, sandbox }), invocation);
    const noted = await noteCapture(journal, place, head, captured);
    if (noted === undefined) return false;
    const found = noted.checkpoint;
    const undo = await findTarget(store, sessionId, {}, noted.journal.undoSeq);
    const report = await settleTo({
      place,
      journal: noted.journal,
      target,
      undo,
      found,
      captured,
      sandbox,
      invocation,
    });
    if (report === undefined) return false;
    if (isInterrupted(report)) throw restoreError(report);
    if (report.outcome !== 'applied' || report.settled === undefined) {
      throw unfinished(journal.requestId, restoreError(report).message);
    }
    const late = await keepLate({ journal, undo, sandbox, invocation }, report, true);
    const { reached, kept, keptNotListed } = report.settled;
    const facts = { by, target, undo, found, late, kept: [...kept, ...unread(found)], keptNotListed };
    if (reached === 0) await abandon(noted.journal, { ...facts, outcome: 'closed' }, found.seq);
    else await abandon(noted.journal, { ...facts, outcome: 'undone' }, undo.seq);
    return true;
  };

  const attempt = async (
    place: WorkTimeline,
    busy: Busy,
    by: string,
    invocation: Invocation,
  ): Promise<boolean> => {
    const journal = await store.getRollback(place.session.sessionId, busy.requestId);
    if (journal === undefined) {
      // It has expired, so no call can come back for it.
      await writeTimeline(store, moveTimeline(place, { busy: undefined }, clock));
      return true;
    }
    if (!isOpen(journal)) return true;
    const { requestId } = journal;
    const held = await holdTimeline(store, place, { requestId, untilMs: invocation.deadlineMs }, clock);
    if (held === 'raced') return false;
    if (held === 'lost') return true;
    if (!mayHaveWritten(journal)) {
      const { sessionId, targetSeq, undoSeq } = journal;
      const target = await store.getCheckpoint(sessionId, targetSeq);
      const undo = undoSeq === undefined ? undefined : await store.getCheckpoint(sessionId, undoSeq);
      await abandon(journal, { by, outcome: 'closed', kept: [], target, undo });
      return true;
    }
    try {
      return await settleWritten(journal, held, by, invocation);
    } catch (error) {
      // With the sandbox gone, nothing can stand between two states any more.
      if (!isWalkbackError(error, 'SandboxNotFound')) throw error;
      await abandon(journal, { by, outcome: 'given-up', kept: [] });
      return true;
    }
  };

  /** Returns when the timeline should be read again. */
  return async (begun: WorkTimeline, busy: Busy, by: string, invocation: Invocation): Promise<void> => {
    const { sessionId } = begun.session;
    const copyId = begun.copy?.sandboxId;
    try {
      for (let round = 0; round < MAX_ATTEMPTS; round++) {
        const place = await findTimeline(store, sessionId, copyId);
        if (busyOf(place)?.requestId !== busy.requestId) return;
        if (await attempt(place, busy, by, invocation)) return;
        await pauseAfterRace(clock, round);
      }
      throw unfinished(busy.requestId, 'the sandbox kept changing while it was looked at.');
    } catch (error) {
      if (isWalkbackError(error)) await letGo(sessionId, busy.requestId, invocation);
      throw error;
    }
  };
};
