import { createRevert } from '../core/checkpoint/merge/revert.ts';
import { createHandler } from './handler.ts';
import { checkpointPorts } from './sandbox-runtime.ts';

export const handler = createHandler('revert', async (runtime) =>
  createRevert(await checkpointPorts(runtime)),
);
