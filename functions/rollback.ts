import { createRollback } from '../core/checkpoint/rollback/rollback.ts';
import { createHandler } from './handler.ts';
import { checkpointPorts } from './sandbox-runtime.ts';

export const handler = createHandler('rollback', async (runtime) =>
  createRollback(await checkpointPorts(runtime)),
);
