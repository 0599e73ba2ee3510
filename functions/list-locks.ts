import { createListLocks } from '../core/saga/view/list-locks.ts';
import { createHandler } from './handler.ts';
import { sagaStore } from './saga-runtime.ts';

export const handler = createHandler('list-locks', async (runtime) =>
  createListLocks({ store: sagaStore(runtime), clock: runtime.clock }),
);
