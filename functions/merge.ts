import { createMerge } from '../core/checkpoint/merge/merge.ts';
import { createHandler } from './handler.ts';
import { checkpointPorts } from './sandbox-runtime.ts';

export const handler = createHandler('merge', async (runtime) => createMerge(await checkpointPorts(runtime)));
