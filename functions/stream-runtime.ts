/** The part of the composition root that knows how changes of the tables arrive, and what Lambda is answered. */
import { toHeadChange } from '../adapters/aws/sagas/saga-stream.ts';
import { type StreamRecord, toChange } from '../adapters/aws/sessions/stream-records.ts';

interface StreamBatch {
  Records: StreamRecord[];
}

/** Where in the batch to go on after a failure; an empty list: all of it is done. */
interface BatchResponse {
  batchItemFailures: { itemIdentifier: string }[];
}

const inBatches =
  <Change>(toOne: (record: StreamRecord) => Change) =>
  (publish: (changes: readonly Change[]) => Promise<number | undefined>) =>
  async ({ Records }: StreamBatch): Promise<BatchResponse> => {
    const failedAt = await publish(Records.map(toOne));
    const itemIdentifier = failedAt === undefined ? undefined : Records[failedAt]?.dynamodb?.SequenceNumber;
    return { batchItemFailures: itemIdentifier === undefined ? [] : [{ itemIdentifier }] };
  };

/*
 * Not the batch processor of Powertools: for a stream it works on behind a record that failed, and a later event would be told
 * before an earlier one.
 */
export const sessionChanges = inBatches(toChange);
export const sagaChanges = inBatches(toHeadChange);
