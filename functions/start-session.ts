import { startSessionInput } from '../core/checkpoint/schemas.ts';
import { createStartSession } from '../core/checkpoint/session/start-session.ts';
import { createHandler } from './handler.ts';
import { checkpointPorts } from './sandbox-runtime.ts';

export const handler = createHandler('start-session', startSessionInput, async (runtime) =>
  createStartSession(await checkpointPorts(runtime)),
);
