import { createPublishSessionChanges } from '../core/checkpoint/session/publish-session-changes.ts';
import { eventBus } from './event-runtime.ts';
import { createEventHandler } from './handler.ts';
import { bundleStore, sessionStore } from './session-runtime.ts';
import { sessionChanges } from './stream-runtime.ts';

/** Internal: fed by the Sessions table's stream. */
export const handler = createEventHandler('publish-session-events', async (runtime) =>
  sessionChanges(
    createPublishSessionChanges({
      ...runtime,
      store: sessionStore(runtime),
      bundles: bundleStore(runtime),
      events: eventBus(runtime),
    }),
  ),
);
