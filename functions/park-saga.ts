import { createSaveFiles } from '../core/checkpoint/take/save-files.ts';
import { createTakeCheckpoint } from '../core/checkpoint/take/take-checkpoint.ts';
import { createParkSaga } from '../core/saga/interactive/park.ts';
import { createHandler } from './handler.ts';
import { sagaPorts } from './saga-runtime.ts';
import { checkpointPorts } from './sandbox-runtime.ts';

export const handler = createHandler('park-saga', async (runtime) =>
  createParkSaga({
    ...sagaPorts(runtime),
    // A deployment without a key for sandboxes can park sagas too.
    saveFiles: async (...asked) => {
      const ports = await checkpointPorts(runtime);
      return createSaveFiles({ ...ports, checkpoint: createTakeCheckpoint(ports) })(...asked);
    },
  }),
);
