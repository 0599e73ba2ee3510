import { createRollback } from '../core/checkpoint/rollback/rollback.ts';
import { rollbackInput } from '../core/checkpoint/schemas.ts';
import { createHandler } from './handler.ts';
import { checkpointPorts } from './sandbox-runtime.ts';

export const handler = createHandler('rollback', rollbackInput, async (runtime) =>
  createRollback(await checkpointPorts(runtime)),
);
