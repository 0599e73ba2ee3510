/**
 * What to do about a timeline that is held by somebody. Alive (its invocation's deadline is not over): wait.
 * Dead: settle its rollback, or give up its resume, before anything else goes on.
 */
import type { Busy } from '../../../contract/checkpoint-answers.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { createReleaseResume } from '../rehydrate/release-resume.ts';
import type { RollbackDeps } from '../rollback/rollback-attempt.ts';
import { createSettleRollback } from '../rollback/settle-rollback.ts';
import { busyOf, type Place } from './place.ts';
import { inProgress } from './session-rules.ts';

export const requireFree = (sessionId: string, busy: Busy, nowMs: number): void => {
  if (busy.untilMs > nowMs) throw inProgress(sessionId, busy);
};

export const createRecovery = (deps: RollbackDeps) => {
  const { clock } = deps;
  const settleRollback = createSettleRollback(deps);
  const releaseResume = createReleaseResume(deps);

  /**
   * Returns when the timeline should be read again; throws `RollbackInProgress` while its holder may be alive. `by`: the
   * call on whose behalf this is done.
   */
  return async (place: Place, by: string, invocation: Invocation): Promise<void> => {
    const busy = busyOf(place);
    if (busy === undefined) return;
    requireFree(place.session.sessionId, busy, clock.now().getTime());
    switch (busy.kind) {
      case 'rollback':
        return settleRollback(place, busy, by, invocation);
      case 'resume':
        return releaseResume(place.session);
    }
  };
};
