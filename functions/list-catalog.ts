import { createListCatalog } from '../core/saga/view/list-sagas.ts';
import { createHandler } from './handler.ts';
import { sagaStore } from './saga-runtime.ts';

export const handler = createHandler('list-catalog', async (runtime) =>
  createListCatalog({ store: sagaStore(runtime), clock: runtime.clock }),
);
