import type { RewindAnswer, SagaRewind, SessionRewind } from '../contract/rewind.ts';
import { createRewindSaga } from '../core/saga/people/rewind-saga.ts';
import { evaluator } from './execution-runtime.ts';
import { createHandler } from './handler.ts';
import { identified } from './identity-runtime.ts';
import { sagaPorts } from './saga-runtime.ts';

export const handler = createHandler('rewind', async (runtime) => {
  const saga = createRewindSaga({ ...sagaPorts(runtime), evaluate: evaluator() });
  const ofSaga = identified<SagaRewind, RewindAnswer>(runtime, 'rewind', saga);
  const ofSession = identified<SessionRewind, RewindAnswer>(runtime, 'rewind', async (...asked) => {
    // A cold start for a saga does not load what sandboxes need.
    const { sessionRewind } = await import('./rewind-session-runtime.ts');
    return sessionRewind(runtime)(...asked);
  });
  return async (request, invocation) =>
    request.sagaId === undefined ? ofSession(request, invocation) : ofSaga(request, invocation);
});
