import { createRevert } from '../core/checkpoint/merge/revert.ts';
import { createHandler } from './handler.ts';
import { identifiedIfPerson } from './identity-runtime.ts';
import { checkpointPorts } from './sandbox-runtime.ts';

export const handler = createHandler('revert', async (runtime) =>
  identifiedIfPerson(runtime, 'revert', createRevert(await checkpointPorts(runtime))),
);
