import { createStartSaga } from '../core/saga/run/start.ts';
import { evaluator } from './execution-runtime.ts';
import { createHandler } from './handler.ts';
import { sagaPorts } from './saga-runtime.ts';

export const handler = createHandler('start-saga', async (runtime) => {
  const start = createStartSaga({ ...sagaPorts(runtime), evaluate: evaluator() });
  return ({ sagaId = `saga-${runtime.random()}`, ...request }) => start({ ...request, sagaId });
});
