import type { AnswerOf, InputOf } from '../contract/functions.ts';
import { createPreflight } from '../core/checkpoint/workspace/preflight.ts';
import { createHandler } from './handler.ts';
import { joinCall } from './join-runtime.ts';
import { e2bSandboxes, gitRepositories, workspaces } from './sandbox-runtime.ts';

export const handler = createHandler('preflight', async (runtime) =>
  joinCall(runtime)<InputOf<'preflight'>, AnswerOf<'preflight'>>(
    'preflight',
    createPreflight({
      ...runtime,
      sandboxes: await e2bSandboxes(runtime),
      repositories: gitRepositories(runtime),
      workspaces: workspaces(runtime),
    }),
  ),
);
