import { answerTooLarge, createApi } from '../api/app.ts';
import { toAnswer, toRequest } from '../api/gateway-event.ts';
import { createEventHandler } from './handler.ts';
import { personCalls } from './people-runtime.ts';

export const handler = createEventHandler('api', async (runtime) => {
  const app = createApi({
    calls: personCalls(runtime),
    failed: (error) => runtime.log.warn('a request failed', { error }),
  });
  return async (event: unknown) => toAnswer(await app.fetch(toRequest(event)), answerTooLarge);
});
