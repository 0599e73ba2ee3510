/**
 * Handles a timeline that another call holds. If the holder is alive (its invocation's deadline has not
 * passed), wait. If it is dead, settle its rollback or give up its resume before anything else.
 */
import type { Busy } from '../../../contract/checkpoint-answers.ts';
import type { Invocation } from '../../shared/deadline.ts';
import type { RollbackDeps } from '../attempt/rollback-journal.ts';
import { busyOf, type WorkTimeline } from '../session/place.ts';
import { inProgress } from '../session/session-rules.ts';
import { createReleaseResume } from './release-resume.ts';
import { createSettleRollback } from './settle-rollback.ts';

export const requireFree = (sessionId: string, busy: Busy, nowMs: number): void => {
  if (busy.untilMs > nowMs) throw inProgress(sessionId, busy);
};

export const createRecovery = (deps: RollbackDeps) => {
  const { clock } = deps;
  const settleRollback = createSettleRollback(deps);
  const releaseResume = createReleaseResume(deps);

  /**
   * Returns when the timeline should be read again. Throws `RollbackInProgress` while the holder may be
   * alive. `by`: the call on whose behalf this is done.
   */
  return async (place: WorkTimeline, by: string, invocation: Invocation): Promise<void> => {
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
