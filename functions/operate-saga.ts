import { createOperate } from '../core/saga/people/operate.ts';
import { operateSagaInput } from '../core/saga/schemas.ts';
import { createHandler } from './handler.ts';
import { sagaPorts } from './saga-runtime.ts';

export const handler = createHandler('operate-saga', operateSagaInput, async (runtime) =>
  createOperate(sagaPorts(runtime)),
);
