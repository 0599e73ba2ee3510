import { type StreamRecord, toChange } from '../adapters/aws/sessions/stream-records.ts';
import { createPublishChanges } from '../core/checkpoint/session/publish-changes.ts';
import { eventBus } from './event-runtime.ts';
import { createEventHandler } from './handler.ts';
import { bundleStore, sessionStore } from './session-runtime.ts';

interface StreamBatch {
  Records: StreamRecord[];
}

/** Internal: fed by the Sessions table's stream. Answers where in the batch to go on after a failure. */
export const handler = createEventHandler('publish-events', async (runtime) => {
  const store = sessionStore(runtime);
  const publish = createPublishChanges({
    ...runtime,
    store,
    bundles: bundleStore(runtime),
    events: eventBus(runtime),
  });
  return async ({ Records }: StreamBatch) => {
    const failedAt = await publish(Records.map(toChange));
    const itemIdentifier = failedAt === undefined ? undefined : Records[failedAt]?.dynamodb?.SequenceNumber;
    return { batchItemFailures: itemIdentifier === undefined ? [] : [{ itemIdentifier }] };
  };
});
