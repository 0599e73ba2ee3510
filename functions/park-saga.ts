import { createParkSaga } from '../core/saga/interactive/park.ts';
import { createHandler } from './handler.ts';
import { sagaPorts } from './saga-runtime.ts';

export const handler = createHandler('park-saga', async (runtime) => createParkSaga(sagaPorts(runtime)));
