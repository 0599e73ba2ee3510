import { type SagaStreamRecord, toHeadChange } from '../adapters/aws/sagas/saga-stream.ts';
import { createPublishSagaChanges } from '../core/saga/run/publish-saga.ts';
import { eventBus } from './event-runtime.ts';
import { createEventHandler } from './handler.ts';

/** Internal: fed by the Sagas table's stream. Answers where in the batch to go on after a failure. */
export const handler = createEventHandler('publish-saga-events', async (runtime) => {
  const publish = createPublishSagaChanges({ events: eventBus(runtime), log: runtime.log });
  return async ({ Records }: { Records: SagaStreamRecord[] }) => {
    const failedAt = await publish(Records.map(toHeadChange));
    const itemIdentifier = failedAt === undefined ? undefined : Records[failedAt]?.dynamodb?.SequenceNumber;
    return { batchItemFailures: itemIdentifier === undefined ? [] : [{ itemIdentifier }] };
  };
});
