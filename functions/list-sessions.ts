import { createListSessions } from '../core/checkpoint/list-sessions.ts';
import { listSessionsInput } from '../core/checkpoint/schemas.ts';
import { createHandler } from './handler.ts';
import { sessionStore } from './session-runtime.ts';

export const handler = createHandler('list-sessions', listSessionsInput, async (runtime) =>
  createListSessions({ store: sessionStore(runtime) }),
);
