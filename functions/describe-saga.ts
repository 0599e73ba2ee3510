import { createDescribe } from '../core/saga/people/describe.ts';
import { describeSagaInput } from '../core/saga/schemas.ts';
import { createHandler } from './handler.ts';
import { sagaStore } from './saga-runtime.ts';

export const handler = createHandler('describe-saga', describeSagaInput, async (runtime) => {
  const describe = createDescribe({ store: sagaStore(runtime), clock: runtime.clock });
  return ({ sagaId, waitSeconds }) => describe(sagaId, waitSeconds);
});
