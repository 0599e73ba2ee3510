/**
 * Stores what other processes wrote while a restore was at work as a checkpoint: the undo state with these
 * files as they were written. Until that checkpoint is durable, the sandbox keeps the files.
 */

import type { LateWrites } from '../../../contract/answer-fields.ts';
import { firstThatFit } from '../../shared/bounded.ts';
import { commandTimeout, type Invocation } from '../../shared/deadline.ts';
import { isWalkbackError, WalkbackError } from '../../shared/errors.ts';
import { lateToolId } from '../../shared/ids.ts';
import { RACE, retrying } from '../../shared/retry.ts';
import { createCapture } from '../capture/capture.ts';
import type { Captured } from '../capture/capture-report.ts';
import { createCheckpoint } from '../capture/checkpoint-item.ts';
import type { RollbackJournal } from '../journals.ts';
import type { Checkpoint } from '../model.ts';
import type { RestoreReport } from '../ports/restore.ts';
import type { ExecutionAdapter } from '../ports/sandbox.ts';
import { type AsidesResult, asideWarnings, listed } from '../restore/asides.ts';
import { touch } from '../session/session-item.ts';
import { requireSession } from '../session/session-rules.ts';
import type { RollbackDeps } from './rollback-journal.ts';

interface After {
  journal: RollbackJournal;
  undo: Checkpoint;
  sandbox: ExecutionAdapter;
  invocation: Invocation;
}

/** Files that an answer lists. */
const TOLD = { count: 200, bytes: 48 * 1024 };

/** What the checkpoint below could not capture or left out is missing here too. */
const onTop = (below: Checkpoint, captured: Captured): Captured => {
  const known = captured.repositories.filter(({ state }) => state === 'captured');
  const states = new Map(known.map((state) => [state.path, state]));
  return {
    ...captured,
    repositories: below.repositories.map((state) => states.get(state.path) ?? state),
    failures: below.failures,
    skipped: [...below.skipped, ...captured.skipped],
    complete: below.complete,
  };
};

const lateWarning = ({ checkpointId, files, filesNotListed }: LateWrites): string =>
  `written by another process meanwhile, and stored as checkpoint ${checkpointId}: ${listed(files, filesNotListed)}`;

const namedBy = ({ checkpointId, lateFiles = [], lateFilesNotListed }: Checkpoint): LateWrites => ({
  checkpointId,
  files: lateFiles,
  ...(lateFilesNotListed !== undefined && { filesNotListed: lateFilesNotListed }),
});

export const createLateWrites = (deps: RollbackDeps) => {
  const { store, repositories, clock, log } = deps;
  const capture = createCapture(deps);

  /** The checkpoints of late files that earlier runs of the same request stored. */
  const storedBefore = async ({ sessionId, requestId }: RollbackJournal): Promise<Checkpoint[]> => {
    const found: Checkpoint[] = [];
    for (;;) {
      const tool = lateToolId(requestId, found.length + 1);
      const checkpoint = await store.findCheckpointByTool(sessionId, tool);
      if (checkpoint === undefined) return found;
      found.push(checkpoint);
    }
  };

  const commit = async (
    { journal }: After,
    below: Checkpoint,
    toolExecutionId: string,
    captured: Captured,
  ): Promise<Checkpoint> => {
    const lateFiles = firstThatFit(captured.late, TOLD);
    const notListed = captured.late.length - lateFiles.length;
    const stored = await retrying(RACE, clock, async () => {
      const known = await store.findCheckpointByTool(journal.sessionId, toolExecutionId);
      if (known !== undefined) return known;
      const session = await requireSession(store, journal.sessionId);
      const checkpoint = createCheckpoint(
        {
          session,
          captured,
          parentSeq: below.seq,
          parent: below,
          messageId: below.messageId,
          messageOrder: below.messageOrder,
          unowned: below.unowned,
          toolExecutionId,
          reason: 'late-writes',
          sandboxId: journal.sandboxId,
          detached: journal.detached,
          lateFiles,
          lateFilesNotListed: notListed > 0 ? notListed : undefined,
        },
        clock,
      );
      // The head stays: the sandbox does not stand on this checkpoint.
      const outcome = await store.commitCheckpoint({
        session: touch(session, { seq: checkpoint.seq }, clock),
        expectedVersion: session.version,
        checkpoint,
      });
      return outcome.written ? checkpoint : undefined;
    });
    if (stored !== undefined) return stored;
    throw new WalkbackError('Throttled', 'The session is being written by others all the time. Call again.', {
      retryable: true,
    });
  };

  /**
   * Stores the late files. A repeated run builds on the checkpoint of the run before it, so files that are
   * already in there change nothing.
   */
  const keep = async (after: After, before: readonly Checkpoint[]): Promise<Checkpoint | undefined> => {
    const { journal, sandbox, invocation } = after;
    const session = await requireSession(store, journal.sessionId);
    const last = before.at(-1);
    const below = last ?? after.undo;
    const toolExecutionId = lateToolId(journal.requestId, before.length + 1);
    const held = below.repositories.filter(({ state }) => state === 'captured');
    const captured = await capture(
      {
        session,
        sandbox,
        head: { ...below, repositories: held },
        toolExecutionId,
        messageId: below.messageId,
        reason: 'late-writes',
        late: true,
      },
      invocation,
    );
    if (captured.failures.length > 0) {
      const reasons = captured.failures.map(({ path, reason }) => `${path}: ${reason}`);
      throw new WalkbackError('CaptureFailed', reasons.join('; '));
    }
    if (captured.late.length === 0) return last;
    const isNew = captured.repositories.some(({ changed }) => changed);
    const stored = isNew ? await commit(after, below, toolExecutionId, onTop(below, captured)) : last;
    if (stored === undefined) return undefined;
    log.info('late writes', { requestId: journal.requestId, checkpointId: stored.checkpointId });
    try {
      await repositories.lateStored(sandbox, {
        sessionId: session.sessionId,
        projectsRoot: session.projectsRoot,
        toolExecutionId,
        timeoutMs: commandTimeout(invocation, clock),
      });
    } catch (error) {
      // They stay in the sandbox, and the next rollback stores them once more.
      if (!isWalkbackError(error)) throw error;
      log.warn('late writes not released', { reason: error.message });
    }
    return stored;
  };

  /**
   * What cannot be stored stays where it was put aside, and a warning says where. The next rollback finds
   * it there. `repeated`: an earlier run of the same request may have stored some.
   */
  return async (after: After, { asides = [] }: RestoreReport, repeated: boolean): Promise<AsidesResult> => {
    const isLate = asides.some(({ late }) => late.length > 0);
    if (!isLate && !repeated) return { warnings: asideWarnings(asides) };
    let before: Checkpoint[] = [];
    try {
      before = await storedBefore(after.journal);
      const stored = isLate ? await keep(after, before) : before.at(-1);
      if (stored === undefined) return { warnings: asideWarnings(asides) };
      const lateWrites = namedBy(stored);
      const stillOpen = asides.filter(({ open }) => open.length > 0).map((aside) => ({ ...aside, late: [] }));
      return { lateWrites, warnings: [lateWarning(lateWrites), ...asideWarnings(stillOpen)] };
    } catch (error) {
      if (!isWalkbackError(error)) throw error;
      log.warn('late writes not stored', { requestId: after.journal.requestId, reason: error.message });
      const last = before.at(-1);
      return { ...(last && { lateWrites: namedBy(last) }), warnings: asideWarnings(asides) };
    }
  };
};
