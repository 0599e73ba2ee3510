/** The few ways sagas talk to their two tables: consistent reads, puts under a condition, and one transaction over both. */
import { setTimeout as sleep } from 'node:timers/promises';
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import {
  BatchWriteCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  type QueryCommandInput,
  TransactWriteCommand,
} from '@aws-sdk/lib-dynamodb';
import { WalkbackError } from '../../core/errors.ts';
import type { Page } from '../../core/saga/ports.ts';
import { calling, toWalkbackError } from './errors.ts';
import type { Item, Key } from './saga-items.ts';

const SERVICE = 'DynamoDB';
const MAX_CONFLICTS = 6;
const MAX_BATCH = 25;

export interface Write {
  tableName: string;
  item: Item;
  /** Whatever is there, without one. */
  condition?: { expression: string; names?: Record<string, string>; values?: Record<string, unknown> };
}

type Condition = NonNullable<Write['condition']>;

export const isNew: Condition = { expression: 'attribute_not_exists(pk)' };
export const hasVersion = (version: number): Condition => ({
  expression: '#version = :expected',
  names: { '#version': 'version' },
  values: { ':expected': version },
});

const putInput = ({ tableName, item, condition }: Write) => ({
  TableName: tableName,
  Item: item,
  ...(condition && { ConditionExpression: condition.expression }),
  ...(condition?.names && { ExpressionAttributeNames: condition.names }),
  ...(condition?.values && { ExpressionAttributeValues: condition.values }),
});

const has = (error: TransactionCanceledException, ...codes: string[]): boolean =>
  (error.CancellationReasons ?? []).some(({ Code }) => Code !== undefined && codes.includes(Code));

const cursorOf = (key: Record<string, unknown> | undefined): { cursor?: string } =>
  key === undefined ? {} : { cursor: Buffer.from(JSON.stringify(key)).toString('base64url') };

const keyOf = (cursor: string): Record<string, unknown> => {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch (cause) {
    throw new WalkbackError('InvalidInput', 'cursor: take it from the answer before.', { cause });
  }
};

export const createSagaTables = (client: DynamoDBDocumentClient) => {
  const get = async (tableName: string, key: Key): Promise<Record<string, unknown> | undefined> => {
    const command = new GetCommand({ TableName: tableName, Key: key, ConsistentRead: true });
    return (await calling(SERVICE, () => client.send(command))).Item;
  };

  /** Whole partitions, consistent. */
  const partition = async (tableName: string, pk: string): Promise<Record<string, unknown>[]> => {
    const items: Record<string, unknown>[] = [];
    let from: QueryCommandInput['ExclusiveStartKey'];
    do {
      const command = new QueryCommand({
        TableName: tableName,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': pk },
        ...(from && { ExclusiveStartKey: from }),
      });
      const page = await calling(SERVICE, () => client.send(command));
      items.push(...(page.Items ?? []));
      from = page.LastEvaluatedKey;
    } while (from !== undefined);
    return items;
  };

  /** One page of a partition from a sort key on, consistent: at most `limit` items and 1 MB. */
  const page = async (tableName: string, { pk, sk }: Key, limit: number) => {
    const command = new QueryCommand({
      TableName: tableName,
      ConsistentRead: true,
      KeyConditionExpression: 'pk = :pk AND sk >= :sk',
      ExpressionAttributeValues: { ':pk': pk, ':sk': sk },
      Limit: limit,
    });
    const answer = await calling(SERVICE, () => client.send(command));
    return { items: answer.Items ?? [], hasMore: answer.LastEvaluatedKey !== undefined };
  };

  /** One page of an index, oldest first. */
  const index = async (
    table: { name: string; index: string; attribute: string },
    value: string,
    limit: number,
    cursor?: string,
  ): Promise<Page<Record<string, unknown>>> => {
    const command = new QueryCommand({
      TableName: table.name,
      IndexName: table.index,
      KeyConditionExpression: '#attribute = :value',
      ExpressionAttributeNames: { '#attribute': table.attribute },
      ExpressionAttributeValues: { ':value': value },
      Limit: limit,
      ...(cursor === undefined ? {} : { ExclusiveStartKey: keyOf(cursor) }),
    });
    const page = await calling(SERVICE, () => client.send(command));
    return { items: page.Items ?? [], ...cursorOf(page.LastEvaluatedKey) };
  };

  /** All or none; false when a condition refused it. Repeats of the SDK carry one token: one transaction to the service. */
  const transact = async (writes: readonly Write[]): Promise<boolean> => {
    for (let attempt = 0; ; attempt++) {
      const command = new TransactWriteCommand({
        TransactItems: writes.map((write) => ({ Put: putInput(write) })),
      });
      try {
        await client.send(command);
        return true;
      } catch (error) {
        if (!(error instanceof TransactionCanceledException)) throw toWalkbackError(SERVICE, error);
        if (has(error, 'ConditionalCheckFailed')) return false;
        const collided = has(
          error,
          'TransactionConflict',
          'ThrottlingError',
          'ProvisionedThroughputExceeded',
        );
        if (!collided) throw toWalkbackError(SERVICE, error);
        if (attempt >= MAX_CONFLICTS) {
          const message = 'The saga is being written by others. Call again.';
          throw new WalkbackError('Throttled', message, { cause: error, retryable: true });
        }
        await sleep(25 * 2 ** attempt * (0.5 + Math.random()));
      }
    }
  };

  /** Unconditional and repeatable; what the service left over is sent again. */
  const putAll = async (tableName: string, items: readonly Item[]): Promise<void> => {
    let left = items.map((item): Record<string, unknown> => item);
    for (let attempt = 0; left.length > 0; attempt++) {
      const requests = left.slice(0, MAX_BATCH).map((item) => ({ PutRequest: { Item: item } }));
      const command = new BatchWriteCommand({ RequestItems: { [tableName]: requests } });
      const answer = await calling(SERVICE, () => client.send(command));
      const over = (answer.UnprocessedItems?.[tableName] ?? []).flatMap(
        ({ PutRequest }) => PutRequest?.Item ?? [],
      );
      if (over.length > 0) {
        if (attempt >= 50) {
          throw new WalkbackError('Throttled', 'DynamoDB does not take all items. Call again.', {
            retryable: true,
          });
        }
        await sleep(25 * 2 ** Math.min(attempt, 6) * (0.5 + Math.random()));
      }
      left = [...over, ...left.slice(MAX_BATCH)];
    }
  };

  const overwrite = async (tableName: string, item: Item): Promise<void> => {
    await calling(SERVICE, () => client.send(new PutCommand({ TableName: tableName, Item: item })));
  };

  return { get, partition, page, index, transact, putAll, overwrite };
};

export type SagaTables = ReturnType<typeof createSagaTables>;
