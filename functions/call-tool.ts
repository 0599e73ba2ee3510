import { createCallTool } from '../core/saga/interactive/call-tool.ts';
import { createSubmitStep } from '../core/saga/interactive/submit.ts';
import { createStartSaga } from '../core/saga/run/start.ts';
import { drivePorts } from './execution-runtime.ts';
import { createHandler } from './handler.ts';

export const handler = createHandler('call-tool', async (runtime) => {
  const ports = drivePorts(runtime);
  return createCallTool({ ...ports, start: createStartSaga(ports), submit: createSubmitStep(ports) });
});
