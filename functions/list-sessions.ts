import { createListSessions } from '../core/checkpoint/session/list-sessions.ts';
import { createHandler } from './handler.ts';
import { sessionStore } from './session-runtime.ts';

export const handler = createHandler('list-sessions', async (runtime) =>
  createListSessions({ store: sessionStore(runtime) }),
);
