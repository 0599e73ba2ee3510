import { createPublishSagaChanges } from '../core/saga/people/publish-saga-changes.ts';
import { eventBus } from './event-runtime.ts';
import { createEventHandler } from './handler.ts';
import { optional } from './runtime.ts';
import { sagaStore } from './saga-runtime.ts';
import { sagaChanges } from './stream-runtime.ts';

/** Internal: fed by the Sagas table's stream. */
export const handler = createEventHandler('publish-saga-events', async (runtime) =>
  sagaChanges(
    createPublishSagaChanges({
      events: eventBus(runtime),
      log: runtime.log,
      store: sagaStore(runtime),
      consoleUrl: optional(runtime.env, 'WALKBACK_CONSOLE_URL'),
    }),
  ),
);
