/** Whether work of a session may begin that believes in an epoch (C9). Also sagas of the session ask this. */
import type { SessionStore } from '../ports/stores.ts';
import { requireActive, requireEpoch, requireSession } from './session-rules.ts';

export const createCheckEpoch =
  (store: Pick<SessionStore, 'getSession'>) =>
  async ({ sessionId, epoch }: { sessionId: string; epoch: number }): Promise<void> => {
    const session = await requireSession(store, sessionId);
    requireActive(session);
    requireEpoch(session, epoch);
  };

/** A saga may name a session that is gone, or never was. */
export const createProjectOf =
  (store: Pick<SessionStore, 'getSession'>) =>
  async (sessionId: string): Promise<string | undefined> =>
    (await store.getSession(sessionId))?.project;
