import { createPreflight } from '../core/checkpoint/workspace/preflight.ts';
import { createHandler } from './handler.ts';
import { e2bSandboxes, gitRepositories, workspaces } from './sandbox-runtime.ts';

export const handler = createHandler('preflight', async (runtime) =>
  createPreflight({
    ...runtime,
    sandboxes: await e2bSandboxes(runtime),
    repositories: gitRepositories(),
    workspaces: workspaces(),
  }),
);
