import { createStartSession } from '../core/checkpoint/lifecycle/start-session.ts';
import { createHandler } from './handler.ts';
import { checkpointPorts } from './sandbox-runtime.ts';

export const handler = createHandler('start-session', async (runtime) =>
  createStartSession(await checkpointPorts(runtime)),
);
