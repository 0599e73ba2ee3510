import { createDeleteCopy } from '../core/checkpoint/copies/delete-copy.ts';
import { createHandler } from './handler.ts';
import { e2bSandboxes, gitRepositories } from './sandbox-runtime.ts';
import { sessionStore } from './session-runtime.ts';

export const handler = createHandler('delete-copy', async (runtime) =>
  createDeleteCopy({
    ...runtime,
    store: sessionStore(runtime),
    repositories: gitRepositories(runtime),
    sandboxes: await e2bSandboxes(runtime),
  }),
);
