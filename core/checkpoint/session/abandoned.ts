/**
 * What to do about a timeline that is held by somebody. Alive (its invocation's deadline is not over): wait.
 * Dead: finish its rollback, or give up its resume, before anything else goes on.
 */
import type { Busy } from '../../../contract/checkpoint-answers.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { isWalkbackError } from '../../shared/errors.ts';
import type { ReviewCopy, Session } from '../model.ts';
import { createReleaseResume } from '../rehydrate/release-resume.ts';
import { createRollbackRun, type RollbackDeps } from '../rollback/rollback-run.ts';
import { movePlace, type Place } from './place.ts';
import { inProgress } from './session-rules.ts';

export const requireFree = (sessionId: string, busy: Busy, nowMs: number): void => {
  if (busy.untilMs > nowMs) throw inProgress(sessionId, busy);
};

export const createRecovery = (deps: RollbackDeps) => {
  const { store, clock, log } = deps;
  const runRollback = createRollbackRun(deps);
  const releaseResume = createReleaseResume(deps);

  const finishRollback = async (place: Place, busy: Busy, invocation: Invocation): Promise<void> => {
    const { sessionId } = place.session;
    const journal = await store.getRollback(sessionId, busy.requestId);
    if (journal === undefined) {
      // Its journal outlived its retention; nobody can come back for it.
      const move = movePlace(place, { busy: undefined }, clock);
      await ('copy' in move
        ? store.updateCopy(move.copy, move.expectedVersion)
        : store.updateSession(move.session, move.expectedVersion));
      return;
    }
    log.warn('finishing an abandoned rollback', { sessionId, requestId: busy.requestId });
    try {
      await runRollback(sessionId, busy.requestId, invocation);
    } catch (error) {
      const ended = (await store.getRollback(sessionId, busy.requestId))?.phase === 'failed';
      // That it failed is the answer of its own request, not of ours.
      if (!ended || !isWalkbackError(error)) throw error;
    }
  };

  /** Returns when the timeline should be read again; throws `RollbackInProgress` while its holder may be alive. */
  return async (session: Session, invocation: Invocation, copy?: ReviewCopy): Promise<void> => {
    const busy = copy === undefined ? session.busy : copy.busy;
    if (busy === undefined) return;
    requireFree(session.sessionId, busy, clock.now().getTime());
    switch (busy.kind) {
      case 'rollback':
        return finishRollback({ session, copy }, busy, invocation);
      case 'resume':
        return releaseResume(session);
    }
  };
};
