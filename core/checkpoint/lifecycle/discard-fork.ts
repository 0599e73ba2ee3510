/**
 * What a fork's sandbox holds that no checkpoint holds. Its sandbox is killed when the fork is discarded, so
 * this work gets a last checkpoint first (C2). Work that cannot be captured is destroyed only on purpose.
 */
import type { Uncaptured } from '../../../contract/answer-fields.ts';
import type { DiscardedFork } from '../../../contract/checkpoint-answers.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { isWalkbackError, WalkbackError } from '../../shared/errors.ts';
import { plural } from '../../shared/plural.ts';
import type { RollbackDeps } from '../attempt/rollback-journal.ts';
import { createUncapturedWork, missedBy } from '../capture/uncaptured-work.ts';
import type { Session } from '../model.ts';
import { createTakeCheckpoint } from '../take/take-checkpoint.ts';

export type DiscardDeps = RollbackDeps & { random: () => string };

const LISTED = 5;

const listed = (lines: readonly string[]): string => {
  const more = lines.length - LISTED;
  return [...lines.slice(0, LISTED), ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
};

const uncapturedWork = (fork: Session, why: string, cause?: unknown): WalkbackError =>
  new WalkbackError(
    'UncapturedWork',
    `Session "${fork.sessionId}" was not discarded: ${why}. Its sandbox runs on. To destroy this work, discard with dropUncaptured (walkback session end FORK --discard --drop-uncaptured).`,
    { cause, details: { sessionId: fork.sessionId, sandboxId: fork.sandboxId } },
  );

/** Throws `UncapturedWork` for work that a checkpoint would not hold. */
const requireCapturable = (fork: Session, uncaptured: readonly Uncaptured[]): void => {
  if (uncaptured.length === 0) return;
  const lines = uncaptured.map(({ path, reason }) => `${path}: ${reason}`);
  throw uncapturedWork(fork, `it holds work that cannot be captured (${listed(lines)})`);
};

export const createDiscardFork = (deps: DiscardDeps) => {
  const { random } = deps;
  const uncapturedWorkOf = createUncapturedWork(deps);
  const takeCheckpoint = createTakeCheckpoint(deps);

  /** `isDropping`: an error of the sandbox counts as work that cannot be captured. */
  const look = async (fork: Session, isDropping: boolean, invocation: Invocation): Promise<DiscardedFork> => {
    const { sandboxId } = fork;
    const none = {
      sandboxId,
      isRunning: true,
      changed: [],
      uncaptured: [],
      leftOut: [],
      lastCheckpointId: null,
    };
    try {
      return { ...none, ...(await uncapturedWorkOf(fork, `discard-${random()}`, invocation)) };
    } catch (error) {
      if (!isWalkbackError(error)) throw error;
      // It is gone, or paused. A paused sandbox keeps its work: it is not killed.
      if (error.name === 'SandboxNotFound') return { ...none, isRunning: false };
      if (error.retryable && !isDropping) throw error;
      return { ...none, uncaptured: [{ path: '.', reason: error.message }] };
    }
  };

  /** Takes the last checkpoint where there is work for it. Throws `UncapturedWork` when some of it would be lost. */
  const keepWork = async (
    fork: Session,
    found: DiscardedFork,
    invocation: Invocation,
  ): Promise<DiscardedFork> => {
    requireCapturable(fork, found.uncaptured);
    if (found.changed.length === 0) return found;
    const { sessionId, status } = fork;
    if (status === 'ended') {
      const where = listed(found.changed);
      throw uncapturedWork(
        fork,
        `it ended before, and its last checkpoint does not hold later work in ${plural(found.changed.length, 'repository', 'repositories')} (${where})`,
      );
    }
    const toolExecutionId = `discard-${random()}`;
    const taken = await takeCheckpoint({ sessionId, toolExecutionId, reason: 'discard' }, invocation);
    requireCapturable(fork, missedBy(taken));
    return { ...found, leftOut: taken.skipped, lastCheckpointId: taken.checkpointId };
  };

  return { look, keepWork };
};
