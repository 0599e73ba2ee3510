import { createVerifyCommitments } from '../core/checkpoint/workspace/verify-commitments.ts';
import { createHandler } from './handler.ts';
import { joinCall } from './join-runtime.ts';
import { checkpointPorts, workspaces } from './sandbox-runtime.ts';

export const handler = createHandler('verify-commitments', async (runtime) =>
  joinCall(runtime)(
    'verify-commitments',
    createVerifyCommitments({ ...(await checkpointPorts(runtime)), workspaces: workspaces(runtime) }),
  ),
);
