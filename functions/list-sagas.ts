import { createListSagas } from '../core/saga/view/list-sagas.ts';
import { createHandler } from './handler.ts';
import { sagaStore } from './saga-runtime.ts';

export const handler = createHandler('list-sagas', async (runtime) =>
  createListSagas({ store: sagaStore(runtime), clock: runtime.clock }),
);
