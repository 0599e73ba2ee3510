import { createCloseSaga } from '../core/saga/interactive/close.ts';
import { createHandler } from './handler.ts';
import { sagaPorts } from './saga-runtime.ts';

export const handler = createHandler('close-saga', async (runtime) => createCloseSaga(sagaPorts(runtime)));
