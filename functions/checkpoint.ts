import { createTakeCheckpoint } from '../core/checkpoint/take/take-checkpoint.ts';
import { createHandler } from './handler.ts';
import { checkpointPorts } from './sandbox-runtime.ts';

export const handler = createHandler('checkpoint', async (runtime) =>
  createTakeCheckpoint(await checkpointPorts(runtime)),
);
