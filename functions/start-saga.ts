import { createDriveInline } from '../core/saga/interactive/drive.ts';
import { createStartSaga } from '../core/saga/run/start.ts';
import { drivePorts } from './execution-runtime.ts';
import { createHandler } from './handler.ts';

export const handler = createHandler('start-saga', async (runtime) => {
  const ports = drivePorts(runtime);
  const start = createStartSaga({ ...ports, driveInline: createDriveInline(ports) });
  return ({ sagaId = `saga-${runtime.random()}`, ...request }, invocation) =>
    start({ ...request, sagaId }, invocation);
});
