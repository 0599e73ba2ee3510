import { createOperate } from '../core/saga/people/operate.ts';
import { createHandler } from './handler.ts';
import { sagaPorts } from './saga-runtime.ts';

export const handler = createHandler('operate-saga', async (runtime) => createOperate(sagaPorts(runtime)));
