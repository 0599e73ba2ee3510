/**
 * Begins a rehydrate: resolves the request and, for a resume, holds the session for it. Undefined when
 * another call has just begun the same request.
 */

import type { RehydrateInput } from '../../../contract/checkpoint-inputs.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { isWalkbackError, WalkbackError } from '../../shared/errors.ts';
import { pauseAfterRace } from '../../shared/retry.ts';
import type { RollbackDeps } from '../attempt/rollback-journal.ts';
import { DEFAULTS } from '../defaults.ts';
import type { RehydrateJournal } from '../journals.ts';
import type { Session } from '../model.ts';
import { settledBy } from '../session/place.ts';
import { requestHash } from '../session/request-hash.ts';
import { expiryOf } from '../session/retention.ts';
import { touch } from '../session/session-item.ts';
import { mayBegin, requireActive, requireSession } from '../session/session-rules.ts';
import { createRecovery } from '../settle/abandoned.ts';
import { createGiveUpRollback } from '../settle/give-up-rollback.ts';
import { findTarget } from '../timeline/targets.ts';
import { heldFromNow } from './rehydrate-hold.ts';

const MAX_ATTEMPTS = 6;

export const rehydrateHash = (input: RehydrateInput): string =>
  requestHash({
    messageId: input.messageId,
    checkpointId: input.checkpointId,
    mode: input.mode ?? 'review',
    template: input.template,
    timeoutMs: input.timeoutMs,
  });

export const createBeginRehydrate = (deps: RollbackDeps) => {
  const { store, clock } = deps;
  const settleAbandoned = createRecovery(deps);
  const giveUpRollback = createGiveUpRollback(deps);

  /**
   * A resume leaves the old sandbox behind, so a rollback that cannot be settled there does not block it.
   */
  const free = async (session: Session, by: string, invocation: Invocation): Promise<void> => {
    try {
      await settleAbandoned({ session }, by, invocation);
    } catch (error) {
      if (isWalkbackError(error, 'RollbackInProgress')) throw error;
      await giveUpRollback(await requireSession(store, session.sessionId), by, error);
    }
  };

  return async (
    input: RehydrateInput,
    requestId: string,
    invocation: Invocation,
  ): Promise<RehydrateJournal | undefined> => {
    const mode = input.mode ?? 'review';
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const session = await requireSession(store, input.sessionId);
      if (mode === 'resume') {
        requireActive(session);
        const begun = () => store.getRehydrate(input.sessionId, requestId);
        if (!(await mayBegin(session, input.epoch, begun))) return undefined;
      }
      const target = await findTarget(store, session.sessionId, input, session.headSeq);
      if (mode === 'resume' && session.busy !== undefined) {
        await free(session, settledBy('rehydrate', requestId), invocation);
        continue;
      }
      const now = clock.now().toISOString();
      const journal: RehydrateJournal = {
        sessionId: session.sessionId,
        requestId,
        requestHash: rehydrateHash(input),
        phase: 'started',
        mode,
        targetSeq: target.seq,
        attempt: 1,
        heldUntilMs: heldFromNow(clock),
        template: input.template ?? session.template,
        sandboxTimeoutMs: input.timeoutMs ?? DEFAULTS.sandboxTimeoutMs,
        startedAt: now,
        updatedAt: now,
        expiresAt: expiryOf(session, clock),
      };
      const busy = { kind: 'resume', requestId, untilMs: invocation.deadlineMs } as const;
      const outcome = await store.createRehydrate(
        journal,
        mode === 'resume'
          ? { session: touch(session, { busy }, clock), expectedVersion: session.version }
          : undefined,
      );
      if (outcome.written) return journal;
      if ((await store.getRehydrate(session.sessionId, requestId)) !== undefined) return undefined;
      await pauseAfterRace(clock, attempt);
    }
    throw new WalkbackError('Throttled', 'The session is being written by others all the time. Call again.', {
      retryable: true,
    });
  };
};
