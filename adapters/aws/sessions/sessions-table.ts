/**
 * The few ways this project talks to the Sessions table: consistent reads, and conditional writes whose
 * refusal is an outcome, not an error. Keeps two promises. If the SDK repeats a write because its answer
 * was lost, it is still reported as written. A transaction that only collided with another is repeated.
 */

import { isDeepStrictEqual } from 'node:util';
import { ConditionalCheckFailedException, type TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { type Condition, conditionInput } from '../conditions.ts';
import { toWalkbackError } from '../errors.ts';
import { getItem, type Item, type Key, queryPages } from '../table-reads.ts';
import { transactPuts } from '../table-writes.ts';

const SERVICE = 'DynamoDB';

export interface ConditionalPut {
  item: Item;
  condition?: Condition;
}

export type PutOutcome = { written: true } | { written: false; existing: Record<string, unknown>[] };

const putInput = (tableName: string, { item, condition }: ConditionalPut) => ({
  TableName: tableName,
  Item: item,
  ...conditionInput(condition),
  ...(condition && { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const }),
});

/** The item as the table gives it back: without what is undefined. */
const stored = (item: unknown): unknown => JSON.parse(JSON.stringify(item));

/** The items that stood in the way of a refused transaction. */
const standing = (error: TransactionCanceledException): Record<string, unknown>[] =>
  // The document client unmarshalls outputs, but not what an error carries.
  (error.CancellationReasons ?? []).flatMap(({ Item }) => (Item === undefined ? [] : [unmarshall(Item)]));

export const createSessionsTable = (client: DynamoDBDocumentClient, tableName: string) => {
  const get = (key: Key) => getItem(client, tableName, key);

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
    const pages = queryPages(client, {
      TableName: tableName,
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
      Limit: limit,
    });
    const items: Record<string, unknown>[] = [];
    let sizeBytes = 0;
    for await (const page of pages) {
      items.push(...page);
      if (Number.isFinite(maxBytes)) sizeBytes += Buffer.byteLength(JSON.stringify(page));
      if ((limit !== undefined && items.length >= limit) || sizeBytes >= maxBytes) break;
    }
    return items.slice(0, limit);
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

  const transact = async (writes: ConditionalPut[]): Promise<PutOutcome> => {
    const puts = writes.map((write) => putInput(tableName, write));
    const refused = await transactPuts(client, puts, 'The session is being written by others. Call again.');
    return refused === undefined ? { written: true } : { written: false, existing: standing(refused) };
  };

  return { get, query, put, transact, client, tableName };
};

export type SessionsTable = ReturnType<typeof createSessionsTable>;
