import { createEndSession } from '../core/checkpoint/session/end-session.ts';
import { createHandler } from './handler.ts';
import { e2bSandboxes } from './sandbox-runtime.ts';
import { sessionStore } from './session-runtime.ts';

export const handler = createHandler('end-session', async (runtime) =>
  createEndSession({
    ...runtime,
    store: sessionStore(runtime),
    // Only a fork that is discarded needs the key of E2B.
    kill: async (sandboxId) => (await e2bSandboxes(runtime)).kill(sandboxId),
  }),
);
