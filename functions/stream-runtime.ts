/** The part of the composition root that reads changes of the tables and answers Lambda. */
import { toHeadChange, toMovedSaga } from '../adapters/aws/sagas/saga-stream.ts';
import { type StreamRecord, toChange } from '../adapters/aws/sessions/stream-records.ts';

interface StreamBatch {
  Records: StreamRecord[];
}

/** Where in the batch to continue after a failure. An empty list means that everything is done. */
export interface BatchResponse {
  batchItemFailures: { itemIdentifier: string }[];
}

/** Tells a batch from the input of a caller. */
export const isStreamBatch = (event: unknown): event is StreamBatch =>
  typeof event === 'object' && event !== null && 'Records' in event && Array.isArray(event.Records);

const inBatches =
  <Change>(toOne: (record: StreamRecord) => Change) =>
  (publish: (changes: readonly Change[]) => Promise<number | undefined>) =>
  async ({ Records }: StreamBatch): Promise<BatchResponse> => {
    const failedAt = await publish(Records.map(toOne));
    const itemIdentifier = failedAt === undefined ? undefined : Records[failedAt]?.dynamodb?.SequenceNumber;
    return { batchItemFailures: itemIdentifier === undefined ? [] : [{ itemIdentifier }] };
  };

/*
 * Powertools' batch processor is not used: for a stream it goes on after a failed record, and a later event
 * would be published before an earlier one.
 */
export const sessionChanges = inBatches(toChange);
export const sagaChanges = inBatches(toHeadChange);
export const movedSagas = inBatches(toMovedSaga);
