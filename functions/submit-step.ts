import { createSubmitStep } from '../core/saga/interactive/submit.ts';
import { drivePorts } from './execution-runtime.ts';
import { createHandler } from './handler.ts';

export const handler = createHandler('submit-step', async (runtime) => createSubmitStep(drivePorts(runtime)));
