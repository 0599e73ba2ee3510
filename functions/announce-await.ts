import { createAnnounceAwait } from '../core/saga/people/answer.ts';
import { createHandler } from './handler.ts';
import { sagaPorts } from './saga-runtime.ts';

/** Internal: receives the task token from the machine's state `Await`. */
export const handler = createHandler('announce-await', async (runtime) => {
  const announce = createAnnounceAwait(sagaPorts(runtime));
  return async (waiting) => {
    await announce(waiting);
    return {};
  };
});
