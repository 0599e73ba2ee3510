import { createRehydrate } from '../core/checkpoint/rehydrate/rehydrate.ts';
import { rehydrateInput } from '../core/checkpoint/schemas.ts';
import { createHandler } from './handler.ts';
import { checkpointPorts } from './sandbox-runtime.ts';

export const handler = createHandler('rehydrate', rehydrateInput, async (runtime) =>
  createRehydrate(await checkpointPorts(runtime)),
);
