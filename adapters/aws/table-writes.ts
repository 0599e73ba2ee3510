/** Writes of many items, the same for every table: all or none, or each by itself and repeated until all are there. */
import { setTimeout as sleep } from 'node:timers/promises';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import {
  BatchWriteCommand,
  type DynamoDBDocumentClient,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { WalkbackError } from '../../core/shared/errors.ts';
import { calling, toWalkbackError } from './errors.ts';

const SERVICE = 'DynamoDB';
const MAX_CONFLICTS = 6;
const MAX_BATCH = 25;
const MAX_LEFTOVERS = 50;

type TransactItem = NonNullable<TransactWriteCommandInput['TransactItems']>[number];
type Put = NonNullable<TransactItem['Put']>;

const cancelledBecause = (error: TransactionCanceledException, ...codes: string[]): boolean =>
  (error.CancellationReasons ?? []).some(({ Code }) => Code !== undefined && codes.includes(Code));

const pauseMs = (attempt: number): number => 25 * 2 ** attempt * (0.5 + Math.random());

/**
 * All or none. Answers the refusal of a condition, undefined when it was written. One that only collided with another
 * is repeated; `busy` is said when that never ends. Repeats of the SDK carry one token: one transaction to the service.
 */
export const transactPuts = async (
  client: DynamoDBDocumentClient,
  puts: readonly Put[],
  busy: string,
): Promise<TransactionCanceledException | undefined> => {
  for (let attempt = 0; ; attempt++) {
    try {
      await client.send(new TransactWriteCommand({ TransactItems: puts.map((put) => ({ Put: put })) }));
      return undefined;
    } catch (error) {
      if (!(error instanceof TransactionCanceledException)) throw toWalkbackError(SERVICE, error);
      if (cancelledBecause(error, 'ConditionalCheckFailed')) return error;
      const collided = cancelledBecause(
        error,
        'TransactionConflict',
        'ThrottlingError',
        'ProvisionedThroughputExceeded',
      );
      if (!collided) throw toWalkbackError(SERVICE, error);
      if (attempt >= MAX_CONFLICTS)
        throw new WalkbackError('Throttled', busy, { cause: error, retryable: true });
      await sleep(pauseMs(attempt));
    }
  }
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
      await sleep(pauseMs(Math.min(attempt, 6)));
    }
    left = [...over, ...left.slice(MAX_BATCH)];
  }
};
