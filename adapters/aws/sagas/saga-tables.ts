/** The few ways sagas talk to their two tables: consistent reads, puts under a condition, and one transaction over both. */
import { type DynamoDBDocumentClient, PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { Page } from '../../../core/saga/ports.ts';
import { WalkbackError } from '../../../core/shared/errors.ts';
import { type Condition, conditionInput } from '../conditions.ts';
import { calling } from '../errors.ts';
import { getItem, type Item, type Key, queryPages } from '../table-reads.ts';
import { putAllItems, transactPuts } from '../table-writes.ts';

const SERVICE = 'DynamoDB';

export interface Write {
  tableName: string;
  item: Item;
  /** Whatever is there, without one. */
  condition?: Condition;
}

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
  const get = (tableName: string, key: Key) => getItem(client, tableName, key);

  /** Whole partitions. */
  const partition = async (tableName: string, pk: string): Promise<Record<string, unknown>[]> => {
    const pages = queryPages(client, {
      TableName: tableName,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': pk },
    });
    return (await Array.fromAsync(pages)).flat();
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

  /** One page of a partition behind a sort key, whatever is there; from its beginning with an empty one. */
  const after = async (tableName: string, { pk, sk }: Key, limit: number) => {
    const command = new QueryCommand({
      TableName: tableName,
      ConsistentRead: true,
      KeyConditionExpression: sk === '' ? 'pk = :pk' : 'pk = :pk AND sk > :sk',
      ExpressionAttributeValues: { ':pk': pk, ...(sk === '' ? {} : { ':sk': sk }) },
      Limit: limit,
    });
    const answer = await calling(SERVICE, () => client.send(command));
    return { items: answer.Items ?? [], hasMore: answer.LastEvaluatedKey !== undefined };
  };

  /** One page of an index, oldest first; from a time on, where one is given and the index goes by `at`. */
  const index = async (
    table: { name: string; index: string; attribute: string; since?: string },
    value: string,
    limit: number,
    cursor?: string,
  ): Promise<Page<Record<string, unknown>>> => {
    const { since } = table;
    const isSince = since === undefined ? '' : ' AND #at >= :since';
    const command = new QueryCommand({
      TableName: table.name,
      IndexName: table.index,
      KeyConditionExpression: `#attribute = :value${isSince}`,
      ExpressionAttributeNames: { '#attribute': table.attribute, ...(since && { '#at': 'at' }) },
      ExpressionAttributeValues: { ':value': value, ...(since && { ':since': since }) },
      Limit: limit,
      ...(cursor === undefined ? {} : { ExclusiveStartKey: keyOf(cursor) }),
    });
    const page = await calling(SERVICE, () => client.send(command));
    return { items: page.Items ?? [], ...cursorOf(page.LastEvaluatedKey) };
  };

  /** All or none; false when a condition refused it. */
  const transact = async (writes: readonly Write[]): Promise<boolean> => {
    const puts = writes.map(({ tableName, item, condition }) => ({
      TableName: tableName,
      Item: item,
      ...conditionInput(condition),
    }));
    const refused = await transactPuts(client, puts, 'The saga is being written by others. Call again.');
    return refused === undefined;
  };

  const putAll = (tableName: string, items: readonly Item[]): Promise<void> =>
    putAllItems(client, tableName, items);

  const overwrite = async (tableName: string, item: Item): Promise<void> => {
    await calling(SERVICE, () => client.send(new PutCommand({ TableName: tableName, Item: item })));
  };

  return { get, partition, page, after, index, transact, putAll, overwrite };
};

export type SagaTables = ReturnType<typeof createSagaTables>;
