import { createRehydrate } from '../core/checkpoint/rehydrate/rehydrate.ts';
import { createHandler } from './handler.ts';
import { checkpointPorts } from './sandbox-runtime.ts';

export const handler = createHandler('rehydrate', async (runtime) =>
  createRehydrate(await checkpointPorts(runtime)),
);
