import { createVerifyCommitments } from '../core/checkpoint/workspace/verify-commitments.ts';
import { createHandler } from './handler.ts';
import { checkpointPorts, workspaces } from './sandbox-runtime.ts';

export const handler = createHandler('verify-commitments', async (runtime) =>
  createVerifyCommitments({ ...(await checkpointPorts(runtime)), workspaces: workspaces() }),
);
