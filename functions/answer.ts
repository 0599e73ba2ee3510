import { createAnswer } from '../core/saga/people/answer.ts';
import { answerInput } from '../core/saga/schemas.ts';
import { createHandler } from './handler.ts';
import { sagaPorts } from './saga-runtime.ts';

export const handler = createHandler('answer', answerInput, async (runtime) =>
  createAnswer(sagaPorts(runtime)),
);
