import { createDescribe } from '../core/saga/people/describe.ts';
import { createHandler } from './handler.ts';
import { sagaStore } from './saga-runtime.ts';

export const handler = createHandler('describe-saga', async (runtime) => {
  const describe = createDescribe({ store: sagaStore(runtime), clock: runtime.clock });
  return ({ sagaId, waitSeconds, projection }) => describe(sagaId, waitSeconds, projection);
});
