/**
 * Checks whether work that was decided in an epoch may begin in a session (C9). The session's sagas use it
 * too.
 */
import type { SessionStore } from '../ports/stores.ts';
import { requireActive, requireEpoch, requireSession } from './session-rules.ts';

export const createCheckEpoch =
  (store: Pick<SessionStore, 'getSession'>) =>
  async ({ sessionId, epoch }: { sessionId: string; epoch: number }): Promise<void> => {
    const session = await requireSession(store, sessionId);
    requireActive(session);
    requireEpoch(session, epoch);
  };

/** A saga may name a session that is gone or never existed. */
export const createProjectOf =
  (store: Pick<SessionStore, 'getSession'>) =>
  async (sessionId: string): Promise<string | undefined> =>
    (await store.getSession(sessionId))?.project;
