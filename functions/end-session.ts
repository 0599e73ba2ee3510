import { createEndSession } from '../core/checkpoint/session/end-session.ts';
import { createHandler } from './handler.ts';
import { sessionStore } from './session-runtime.ts';

export const handler = createHandler('end-session', async (runtime) =>
  createEndSession({ ...runtime, store: sessionStore(runtime) }),
);
