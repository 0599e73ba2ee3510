import { createContext } from '../core/checkpoint/session/context.ts';
import { createHandler } from './handler.ts';
import { e2bSandboxes, gitRepositories } from './sandbox-runtime.ts';
import { sessionStore } from './session-runtime.ts';

export const handler = createHandler('context', async (runtime) =>
  createContext({
    ...runtime,
    store: sessionStore(runtime),
    repositories: gitRepositories(runtime),
    sandboxes: await e2bSandboxes(runtime),
  }),
);
