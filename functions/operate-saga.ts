import { createOperate } from '../core/saga/people/operate.ts';
import { createHandler } from './handler.ts';
import { identified } from './identity-runtime.ts';
import { sagaPorts } from './saga-runtime.ts';

export const handler = createHandler('operate-saga', async (runtime) =>
  identified(runtime, 'operate-saga', createOperate(sagaPorts(runtime))),
);
