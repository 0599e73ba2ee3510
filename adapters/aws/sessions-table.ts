/**
 * The few ways this project talks to the Sessions table: consistent reads, and conditional writes whose refusal is
 * an outcome, not an error. Keeps two promises: a write whose answer was lost and which the SDK repeated is still
 * reported as written, and a transaction that only collided with another is repeated here.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { ConditionalCheckFailedException, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import {
  BatchWriteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  type QueryCommandInput,
  TransactWriteCommand,
} from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { WalkbackError } from '../../core/errors.ts';
import type { Condition } from './conditions.ts';
import { calling, toWalkbackError } from './errors.ts';
import type { Item } from './session-items.ts';
import type { Key } from './session-keys.ts';

const SERVICE = 'DynamoDB';
const MAX_CONFLICTS = 6;
const MAX_BATCH = 25;

export interface ConditionalPut {
  item: Item;
  condition?: Condition;
}

export type PutOutcome = { written: true } | { written: false; existing: Record<string, unknown>[] };

const putInput = (tableName: string, { item, condition }: ConditionalPut) => ({
  TableName: tableName,
  Item: item,
  ...(condition && {
    ConditionExpression: condition.expression,
    ...(condition.names && { ExpressionAttributeNames: condition.names }),
    ...(condition.values && { ExpressionAttributeValues: condition.values }),
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  }),
});

/** The item as the table gives it back: without what is undefined. */
const stored = (item: unknown): unknown => JSON.parse(JSON.stringify(item));

/** The items that stood in the way of a refused transaction; undefined when it was not a condition that refused it. */
const refusedBy = (error: TransactionCanceledException): Record<string, unknown>[] | undefined => {
  const reasons = error.CancellationReasons ?? [];
  if (!reasons.some(({ Code }) => Code === 'ConditionalCheckFailed')) return undefined;
  return reasons.flatMap(({ Item }) => {
    if (Item === undefined) return [];
    // The document client unmarshalls outputs, but not what an error carries.
    return [unmarshall(Item)];
  });
};

const cancelledBecause = (error: TransactionCanceledException, code: string): boolean =>
  (error.CancellationReasons ?? []).some(({ Code }) => Code === code);

export const createSessionsTable = (client: DynamoDBDocumentClient, tableName: string) => {
  const get = async (key: Key): Promise<Record<string, unknown> | undefined> => {
    const command = new GetCommand({ TableName: tableName, Key: key, ConsistentRead: true });
    return (await calling(SERVICE, () => client.send(command))).Item;
  };

  /** Pages of a query of one partition until there are `limit` items, or `maxBytes` and what the last page had more. */
  const query = async (
    pk: string,
    prefix: string,
    options: {
      limit?: number;
      maxBytes?: number;
      newestFirst?: boolean;
      before?: string;
      attributes?: string[];
    } = {},
  ): Promise<Record<string, unknown>[]> => {
    const { limit, maxBytes = Number.POSITIVE_INFINITY, newestFirst = false, before, attributes } = options;
    const range = before === undefined ? 'begins_with(sk, :prefix)' : 'sk BETWEEN :prefix AND :before';
    const names = Object.fromEntries((attributes ?? []).map((name) => [`#${name}`, name]));
    const items: Record<string, unknown>[] = [];
    let sizeBytes = 0;
    const isFull = () => (limit !== undefined && items.length >= limit) || sizeBytes >= maxBytes;
    let from: QueryCommandInput['ExclusiveStartKey'];
    do {
      const command = new QueryCommand({
        TableName: tableName,
        ConsistentRead: true,
        KeyConditionExpression: `pk = :pk AND ${range}`,
        ExpressionAttributeValues: {
          ':pk': pk,
          ':prefix': prefix,
          ...(before !== undefined && { ':before': before }),
        },
        ...(attributes && {
          ProjectionExpression: Object.keys(names).join(', '),
          ExpressionAttributeNames: names,
        }),
        ScanIndexForward: !newestFirst,
        ...(limit !== undefined && { Limit: limit - items.length }),
        ...(from && { ExclusiveStartKey: from }),
      });
      const page = await calling(SERVICE, () => client.send(command));
      items.push(...(page.Items ?? []));
      if (Number.isFinite(maxBytes)) sizeBytes += Buffer.byteLength(JSON.stringify(page.Items ?? []));
      from = page.LastEvaluatedKey;
    } while (from !== undefined && !isFull());
    return items;
  };

  const put = async (write: ConditionalPut): Promise<PutOutcome> => {
    try {
      await client.send(new PutCommand(putInput(tableName, write)));
      return { written: true };
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw toWalkbackError(SERVICE, error);
      const existing = error.Item === undefined ? undefined : unmarshall(error.Item);
      // The first try was written and its answer lost: the SDK's second try then meets its own item.
      if (existing !== undefined && isDeepStrictEqual(existing, stored(write.item))) return { written: true };
      return { written: false, existing: existing === undefined ? [] : [existing] };
    }
  };

  /** All or none. Repeats of the SDK carry one token, so they are one transaction to the service. */
  const transact = async (writes: ConditionalPut[]): Promise<PutOutcome> => {
    for (let attempt = 0; ; attempt++) {
      const command = new TransactWriteCommand({
        TransactItems: writes.map((write) => ({ Put: putInput(tableName, write) })),
      });
      try {
        await client.send(command);
        return { written: true };
      } catch (error) {
        if (!(error instanceof TransactionCanceledException)) throw toWalkbackError(SERVICE, error);
        const existing = refusedBy(error);
        if (existing !== undefined) return { written: false, existing };
        const collided =
          cancelledBecause(error, 'TransactionConflict') ||
          cancelledBecause(error, 'ThrottlingError') ||
          cancelledBecause(error, 'ProvisionedThroughputExceeded');
        if (!collided) throw toWalkbackError(SERVICE, error);
        if (attempt >= MAX_CONFLICTS) {
          throw new WalkbackError('Throttled', 'The session is being written by others. Call again.', {
            cause: error,
            retryable: true,
          });
        }
        await sleep(25 * 2 ** attempt * (0.5 + Math.random()));
      }
    }
  };

  /** Unconditional puts, each idempotent; what the service left over is sent again. */
  const putAll = async (items: Item[]): Promise<void> => {
    let left: { PutRequest: { Item: Record<string, unknown> } }[] = items.map((Item) => ({
      PutRequest: { Item },
    }));
    for (let attempt = 0; left.length > 0; attempt++) {
      const batch = left.slice(0, MAX_BATCH);
      const command = new BatchWriteCommand({ RequestItems: { [tableName]: batch } });
      const answer = await calling(SERVICE, () => client.send(command));
      const unprocessed = (answer.UnprocessedItems?.[tableName] ?? []).flatMap(({ PutRequest }) =>
        PutRequest?.Item === undefined ? [] : [{ PutRequest: { Item: PutRequest.Item } }],
      );
      if (unprocessed.length > 0) {
        if (attempt >= 50) {
          throw new WalkbackError('Throttled', 'DynamoDB does not take all items. Call again.', {
            retryable: true,
          });
        }
        await sleep(25 * 2 ** Math.min(attempt, 6) * (0.5 + Math.random()));
      }
      left = [...unprocessed, ...left.slice(MAX_BATCH)];
    }
  };

  return { get, query, put, transact, putAll, client, tableName };
};

export type SessionsTable = ReturnType<typeof createSessionsTable>;
