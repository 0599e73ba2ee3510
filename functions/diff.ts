import { createDiff } from '../core/checkpoint/capture/diff.ts';
import { createHandler } from './handler.ts';
import { joinCall } from './join-runtime.ts';
import { e2bSandboxes, gitRepositories } from './sandbox-runtime.ts';
import { sessionStore } from './session-runtime.ts';

export const handler = createHandler('diff', async (runtime) =>
  joinCall(runtime)(
    'diff',
    createDiff({
      ...runtime,
      store: sessionStore(runtime),
      repositories: gitRepositories(runtime),
      sandboxes: await e2bSandboxes(runtime),
    }),
  ),
);
