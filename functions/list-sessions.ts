import { listSessionsInput } from '../core/checkpoint/schemas.ts';
import { createListSessions } from '../core/checkpoint/session/list-sessions.ts';
import { createHandler } from './handler.ts';
import { sessionStore } from './session-runtime.ts';

export const handler = createHandler('list-sessions', listSessionsInput, async (runtime) =>
  createListSessions({ store: sessionStore(runtime) }),
);
