import { createForkSession } from '../core/checkpoint/lifecycle/fork-session.ts';
import { createHandler } from './handler.ts';
import { checkpointPorts } from './sandbox-runtime.ts';

export const handler = createHandler('fork-session', async (runtime) =>
  createForkSession(await checkpointPorts(runtime)),
);
