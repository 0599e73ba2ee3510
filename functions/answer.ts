import { createAnswer } from '../core/saga/people/answer.ts';
import { createHandler } from './handler.ts';
import { identified } from './identity-runtime.ts';
import { sagaPorts } from './saga-runtime.ts';

export const handler = createHandler('answer', async (runtime) =>
  identified(runtime, 'answer', createAnswer(sagaPorts(runtime))),
);
