import { createRewindSaga } from '../core/saga/people/rewind-saga.ts';
import { evaluator } from './execution-runtime.ts';
import { createHandler } from './handler.ts';
import { identified } from './identity-runtime.ts';
import { sagaPorts } from './saga-runtime.ts';

export const handler = createHandler('rewind', async (runtime) =>
  identified(runtime, 'rewind', createRewindSaga({ ...sagaPorts(runtime), evaluate: evaluator() })),
);
