import { sessionInput } from '../core/checkpoint/schemas.ts';
import { createEndSession } from '../core/checkpoint/session/end-session.ts';
import { createHandler } from './handler.ts';
import { sessionStore } from './session-runtime.ts';

export const handler = createHandler('end-session', sessionInput, async (runtime) =>
  createEndSession({ ...runtime, store: sessionStore(runtime) }),
);
