import { createPutCatalog } from '../core/saga/plan/put-catalog.ts';
import { createHandler } from './handler.ts';
import { mayUseLoopbackTools, sagaStore, toolFunctions } from './saga-runtime.ts';

export const handler = createHandler('put-catalog', async (runtime) =>
  createPutCatalog({
    store: sagaStore(runtime),
    functions: toolFunctions(),
    loopbackTools: mayUseLoopbackTools(runtime),
  }),
);
