/**
 * Gives up a resume whose invocation died: its journal fails, the session is free again, and its sandbox is
 * killed.
 */

import type { Clock, Log } from '../../shared/surroundings.ts';
import type { Session } from '../model.ts';
import type { Sandboxes } from '../ports/sandbox.ts';
import type { SessionStore } from '../ports/stores.ts';
import { rehydrateTags } from '../session/rehydrate-tags.ts';
import { touch } from '../session/session-item.ts';

export const createReleaseResume =
  (deps: { store: SessionStore; sandboxes: Sandboxes; clock: Clock; log: Log }) =>
  async (session: Session): Promise<void> => {
    const { store, sandboxes, clock, log } = deps;
    const { sessionId, busy } = session;
    if (busy === undefined) return;
    const { requestId } = busy;
    const freed = { session: touch(session, { busy: undefined }, clock), expectedVersion: session.version };
    const journal = await store.getRehydrate(sessionId, requestId);
    if (journal === undefined || journal.phase === 'done' || journal.phase === 'failed') {
      await store.updateSession(freed.session, freed.expectedVersion);
      return;
    }
    const error = {
      name: 'RehydrateFailed' as const,
      message: `Rehydrate "${requestId}" was given up because its call never came back. Use a new requestId.`,
    };
    const failed = { ...journal, phase: 'failed' as const, error, updatedAt: clock.now().toISOString() };
    const outcome = await store.moveRehydrate(failed, journal.attempt, freed);
    // If another call has just finished or taken over the resume, its sandbox is not ours to kill.
    if (!outcome.written) return;
    log.warn('resume given up', { sessionId, requestId });
    for (const found of await sandboxes.find(rehydrateTags(sessionId, requestId))) {
      await sandboxes.kill(found.sandboxId);
    }
  };
