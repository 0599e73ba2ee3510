import { createDescribe } from '../core/saga/view/describe.ts';
import { readSubject } from '../core/saga/view/subject.ts';
import { createHandler } from './handler.ts';
import { sagaStore } from './saga-runtime.ts';

export const handler = createHandler('describe-saga', async (runtime) => {
  const store = sagaStore(runtime);
  const describe = createDescribe({ store, clock: runtime.clock });
  return async ({ sagaId, waitSeconds, projection, subject }) => {
    const seen = await describe(sagaId, waitSeconds, projection);
    return subject === true ? { ...seen, ...(await readSubject(store, sagaId)) } : seen;
  };
});
