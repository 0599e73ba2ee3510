/**
 * The checks that every operation makes on a session before it acts. Each error tells the caller what to
 * do.
 */
import type { Busy } from '../../../contract/checkpoint-answers.ts';
import { isWalkbackError, WalkbackError } from '../../shared/errors.ts';
import type { Session } from '../model.ts';
import type { SessionStore } from '../ports/stores.ts';

export const requireSession = async (
  store: Pick<SessionStore, 'getSession'>,
  sessionId: string,
): Promise<Session> => requireFound(await store.getSession(sessionId), sessionId);

export const requireFound = (session: Session | undefined, sessionId: string): Session => {
  if (session !== undefined) return session;
  throw new WalkbackError(
    'SessionNotFound',
    `There is no session "${sessionId}", or its retention is over. Start one with walkback-start-session (walkback session start), or look for its id with walkback-list-sessions (walkback session list).`,
    { details: { sessionId } },
  );
};

export const requireActive = (session: Session): void => {
  if (session.status === 'active') return;
  throw new WalkbackError(
    'SessionEnded',
    `Session "${session.sessionId}" has ended. It can still be read and rehydrated with mode "review"; for new work start another session.`,
    { details: { sessionId: session.sessionId, expiresAt: session.expiresAt } },
  );
};

const MOVED = {
  work: 'the session was rolled back or resumed meanwhile. Stop the work that believes in the older epoch, read the timeline, and go on with the current one',
  plan: 'somebody moved the session meanwhile, by a rollback, revert, merge, undo, rewind or resume, or began to. Nothing was changed by this request. Look at the plan again, or at the timeline where there is none, and go on with the epoch that it names',
} as const;

/**
 * C9. An epoch newer than the session's can only mean that sessions were mixed up, so it is refused as well.
 * `of`: whether running work carries the epoch, or a person decided on a plan of that epoch.
 */
export const requireEpoch = (session: Session, epoch: number, of: keyof typeof MOVED = 'work'): void => {
  if (epoch === session.epoch) return;
  const why =
    epoch < session.epoch
      ? MOVED[of]
      : 'the session has never been in that epoch. Check which session it belongs to';
  throw new WalkbackError(
    'StaleEpoch',
    `Epoch ${epoch} is not the current epoch ${session.epoch} of session "${session.sessionId}": ${why}.`,
    { details: { sessionId: session.sessionId, epoch, currentEpoch: session.epoch } },
  );
};

/**
 * Whether a request that was decided in `epoch` may begin. False when `begun` finds that the same request
 * began meanwhile and raised the epoch itself. It is then answered like any repeated request.
 */
export const mayBegin = async (
  session: Session,
  epoch: number | undefined,
  begun: () => Promise<unknown>,
): Promise<boolean> => {
  if (epoch === undefined || epoch === session.epoch) return true;
  if ((await begun()) !== undefined) return false;
  requireEpoch(session, epoch, 'plan');
  return true;
};

export const inProgress = (sessionId: string, busy: Busy): WalkbackError =>
  new WalkbackError(
    'RollbackInProgress',
    `Session "${sessionId}" is busy with ${busy.kind} "${busy.requestId}" until ${new Date(busy.untilMs).toISOString()} at the latest. Try again after it.`,
    { retryable: true, details: { sessionId, ...busy } },
  );

export const conflictingRequest = (requestId: string): WalkbackError =>
  new WalkbackError(
    'RequestConflict',
    `Request "${requestId}" was made before with another meaning. Use a new requestId for a new request.`,
    { details: { requestId } },
  );

const TO_COMPARE =
  'To compare, rebuild the later of the two points with walkback-rehydrate (walkback rehydrate --to POINT), then ask again with the sandboxId it answers (walkback diff --sandbox ID).';

const TO_BLAME =
  'To see who wrote the lines, rebuild the checkpoint with walkback-rehydrate (walkback rehydrate --to POINT), then ask again with the sandboxId it answers (walkback blame PATH --sandbox ID).';

type Purpose = 'work' | 'diff' | 'blame' | 'context';

/** How to replace a sandbox that is gone. This depends on what the caller wanted to do in it. */
const sandboxAdvice = (session: Session, sandboxId: string, purpose: Purpose): string => {
  const { sessionId } = session;
  if (sandboxId !== session.sandboxId) {
    return `The review copy ${sandboxId} of session "${sessionId}" is gone or paused. Make another with walkback-rehydrate (walkback rehydrate --to POINT).`;
  }
  const gone = `The sandbox of session "${sessionId}" is gone or paused.`;
  const hasEnded = session.status === 'ended';
  if (purpose === 'blame') return `${gone} ${TO_BLAME}`;
  if (purpose === 'diff')
    return `${gone} ${TO_COMPARE}${hasEnded ? ' An ended session can be compared so, too.' : ''}`;
  if (hasEnded) {
    return `${gone} The session has ended, so nothing works in it any more. Its checkpoints can be rebuilt to look at with walkback-rehydrate and mode "review" (walkback rehydrate --to POINT). ${TO_COMPARE}`;
  }
  return `${gone} Rebuild it with walkback-rehydrate and mode "resume" (walkback rehydrate --to POINT --mode resume), or resume it if it is paused.`;
};

/**
 * Adds this advice to the error when a sandbox turns out to be gone. `sandboxId` differs for a review copy.
 */
export const withSandboxAdvice = async <T>(
  session: Session,
  work: () => Promise<T>,
  sandboxId = session.sandboxId,
  purpose: Purpose = 'work',
): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!isWalkbackError(error, 'SandboxNotFound')) throw error;
    throw new WalkbackError('SandboxNotFound', sandboxAdvice(session, sandboxId, purpose), {
      cause: error,
      details: { sessionId: session.sessionId, sandboxId },
    });
  }
};
