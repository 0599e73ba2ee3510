import { createBlame } from '../core/checkpoint/blame/blame.ts';
import { createHandler } from './handler.ts';
import { joinCall } from './join-runtime.ts';
import { checkpointPorts } from './sandbox-runtime.ts';

export const handler = createHandler('blame', async (runtime) =>
  joinCall(runtime)('blame', createBlame(await checkpointPorts(runtime))),
);
