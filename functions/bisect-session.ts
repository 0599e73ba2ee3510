import { createBisect } from '../core/checkpoint/bisect/bisect.ts';
import { createHandler } from './handler.ts';
import { joinCall } from './join-runtime.ts';
import { checkpointPorts, workspaces } from './sandbox-runtime.ts';
import { searchStore } from './session-runtime.ts';

export const handler = createHandler('bisect-session', async (runtime) =>
  joinCall(runtime)(
    'bisect-session',
    createBisect({
      ...(await checkpointPorts(runtime)),
      workspaces: workspaces(runtime),
      searches: searchStore(runtime),
    }),
  ),
);
