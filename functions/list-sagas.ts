import { makeListSagas } from '../core/saga/list-sagas.ts';
import { listSagasInput } from '../core/saga/schemas.ts';
import { createHandler } from './handler.ts';
import { sagaStore } from './saga-runtime.ts';

export const handler = createHandler('list-sagas', listSagasInput, async (runtime) =>
  makeListSagas({ store: sagaStore(runtime) }),
);
