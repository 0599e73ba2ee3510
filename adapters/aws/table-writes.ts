/**
 * Writes of many items, the same for every table: all or none, or each by itself and repeated until all are
 * stored.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import {
  BatchWriteCommand,
  type DynamoDBDocumentClient,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { WalkbackError } from '../../core/shared/errors.ts';
import { COLLISION, pauseMs, retrying } from '../../core/shared/retry.ts';
import { calling, toWalkbackError } from './errors.ts';

const SERVICE = 'DynamoDB';
const MAX_BATCH = 25;
const MAX_LEFTOVERS = 50;

/** The write met another transaction, or too many writes. The same write may be tried again. */
const COLLIDED = ['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'];

type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number];
type Put = NonNullable<TransactItem['Put']>;

const cancelledBecause = (error: TransactionCanceledException, ...codes: string[]): boolean =>
  (error.CancellationReasons ?? []).some(({ Code }) => Code !== undefined && codes.includes(Code));

/**
 * Writes all or none. Answers the refusal of a condition, or undefined when it was written. One that only
 * collided with another is repeated; `busy` is thrown when that never ends. Retries of the SDK carry one
 * token, so they are one transaction to the service.
 */
export const transactPuts = async (
  client: DynamoDBDocumentClient,
  puts: readonly Put[],
  busy: string,
): Promise<TransactionCanceledException | undefined> => {
  const command = () => new TransactWriteCommand({ TransactItems: puts.map((put) => ({ Put: put })) });
  let collision: unknown;
  const tryIt = async (): Promise<{ refused?: TransactionCanceledException } | undefined> => {
    try {
      await client.send(command());
      return {};
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw toWalkbackError(SERVICE, error);
      if (cancelledBecause(error, 'ConditionalCheckFailed')) return { refused: error };
      if (!cancelledBecause(error, ...COLLIDED)) throw toWalkbackError(SERVICE, error);
      collision = error;
      return undefined;
    }
  };
  const done = await retrying(COLLISION, { sleep }, tryIt);
  if (done !== undefined) return done.refused;
  throw new WalkbackError('Throttled', busy, { cause: collision, retryable: true });
};

/** Unconditional puts, each idempotent; what the service left over is sent again. */
export const putAllItems = async (
  client: DynamoDBDocumentClient,
  tableName: string,
  items: readonly Record<string, unknown>[],
): Promise<void> => {
  let left = items;
  for (let attempt = 0; left.length > 0; attempt++) {
    const requests = left.slice(0, MAX_BATCH).map((Item) => ({ PutRequest: { Item } }));
    const command = new BatchWriteCommand({ RequestItems: { [tableName]: requests } });
    const answer = await calling(SERVICE, () => client.send(command));
    const over = (answer.UnprocessedItems?.[tableName] ?? []).flatMap(
      ({ PutRequest }) => PutRequest?.Item ?? [],
    );
    if (over.length > 0) {
      if (attempt >= MAX_LEFTOVERS) {
        throw new WalkbackError('Throttled', 'DynamoDB does not take all items. Call again.', {
          retryable: true,
        });
      }
      await sleep(pauseMs(COLLISION, attempt, Math.random));
    }
    left = [...over, ...left.slice(MAX_BATCH)];
  }
};
