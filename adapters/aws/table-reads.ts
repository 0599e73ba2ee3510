/**
 * Reads of a table: an item, a partition or part of one, a page of an index. All except those of an index are
 * strongly consistent. Errors are ours.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  BatchGetCommand,
  type DynamoDBDocumentClient,
  GetCommand,
  paginateQuery,
  QueryCommand,
  type QueryCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { badCursor, sealed } from '../../core/shared/cursor.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { jsonBytes } from '../../core/shared/json-bytes.ts';
import { COLLISION, pauseMs } from '../../core/shared/retry.ts';
import { calling, toWalkbackError } from './errors.ts';

const SERVICE = 'DynamoDB';
/** Most answers of one batch that leave keys over. Each has 16 MB, unless the service is busy. */
const MAX_LEFTOVERS = 50;

/** The key of every item of every table. */
export interface Key {
  pk: string;
  sk: string;
}

/** An item to be written. */
export type Item = Key & Record<string, unknown>;

/** An item as it was read. Its reader checks its shape. */
export type Stored = Record<string, unknown>;

/** A part of a partition, by sort key. `before`: everything with the prefix that comes before this key. */
type Range = { prefix?: string; before?: string } | { from: string } | { after: string };

interface QueryOptions {
  limit?: number;
  maxBytes?: number;
  newestFirst?: boolean;
  attributes?: string[];
}

/** A partition of an index. */
interface IndexPart {
  index: string;
  attribute: string;
  value: string;
}

interface SortedQuery extends IndexPart {
  sortedBy: string;
}

interface IndexQuery extends IndexPart {
  /** Begins at this value of the index's sort key. */
  since?: { attribute: string; value: string };
}

const condition = (expression: string, values: Record<string, string>) => ({ expression, values });

const rangeCondition = (range: Range) => {
  if ('from' in range) return condition(' AND sk >= :from', { ':from': range.from });
  // The service refuses an empty text as a key. Everything comes after it.
  if ('after' in range) {
    return range.after === '' ? condition('', {}) : condition(' AND sk > :after', { ':after': range.after });
  }
  const { prefix, before } = range;
  if (prefix === undefined) return condition('', {});
  return before === undefined
    ? condition(' AND begins_with(sk, :prefix)', { ':prefix': prefix })
    : condition(' AND sk BETWEEN :prefix AND :before', { ':prefix': prefix, ':before': before });
};

const partitionInput = (TableName: string, pk: string, range: Range) => {
  const { expression, values } = rangeCondition(range);
  return {
    TableName,
    ConsistentRead: true,
    KeyConditionExpression: `pk = :pk${expression}`,
    ExpressionAttributeValues: { ':pk': pk, ...values },
  };
};

/** Seals the cursors of this index: a cursor of another query would begin elsewhere, or nowhere. */
const sealFor = ({ index, attribute, value }: IndexQuery) => sealed(`${index} ${attribute} ${value}`);

const isStored = (value: unknown): value is Stored =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Limits of the service. */
const MOST_KEY_BYTES = { pk: 2048, sk: 1024 };

const isKeyPart = (text: unknown, most: number): boolean =>
  typeof text === 'string' && text !== '' && Buffer.byteLength(text) <= most;

const isKey = (value: unknown): value is Stored & Key =>
  isStored(value) && isKeyPart(value['pk'], MOST_KEY_BYTES.pk) && isKeyPart(value['sk'], MOST_KEY_BYTES.sk);

const nameOf = ({ pk, sk }: Key): string => `${pk}\n${sk}`;

/** Whether the error comes from a bad cursor: DynamoDB checks its other key attributes. */
const isOfCursor = (error: unknown): boolean =>
  error instanceof Error && error.name === 'ValidationException';

export const tableReads = (client: DynamoDBDocumentClient, tableName: string) => {
  /** Answers page by page, as long as the caller asks for the next. */
  async function* pages(input: QueryCommandInput): AsyncGenerator<Stored[]> {
    try {
      for await (const page of paginateQuery({ client }, input)) yield page.Items ?? [];
    } catch (error) {
      throw toWalkbackError(SERVICE, error);
    }
  }

  /**
   * A text that cannot be a key, for example an empty name or one of thousands of characters, names no item.
   * The service would refuse it.
   */
  const get = async (key: Key): Promise<Stored | undefined> => {
    if (!isKey(key)) return undefined;
    const command = new GetCommand({ TableName: tableName, Key: key, ConsistentRead: true });
    return (await calling(SERVICE, () => client.send(command))).Item;
  };

  /** Finds the items of these keys (at most 100) by one request. */
  const getAll = async (wanted: readonly Key[]): Promise<(key: Key) => Stored | undefined> => {
    const items = new Map<string, Stored>();
    // The service refuses a key that is named twice.
    const distinct = new Map(wanted.filter(isKey).map((key) => [nameOf(key), { pk: key.pk, sk: key.sk }]));
    let keys: Stored[] = [...distinct.values()];
    for (let attempt = 0; keys.length > 0; attempt += 1) {
      const command = new BatchGetCommand({
        RequestItems: { [tableName]: { Keys: keys, ConsistentRead: true } },
      });
      const { Responses, UnprocessedKeys } = await calling(SERVICE, () => client.send(command));
      const found = Responses?.[tableName] ?? [];
      for (const item of found) items.set(nameOf({ pk: String(item['pk']), sk: String(item['sk']) }), item);
      keys = UnprocessedKeys?.[tableName]?.Keys ?? [];
      if (keys.length > 0 && attempt >= MAX_LEFTOVERS) {
        throw new WalkbackError('Throttled', 'DynamoDB does not answer all items. Call again.', {
          retryable: true,
        });
      }
      if (keys.length > 0 && found.length === 0) await sleep(pauseMs(COLLISION, attempt, Math.random));
    }
    return (key) => items.get(nameOf(key));
  };

  /** Reads a partition until there are `limit` items, or `maxBytes` plus the rest of the last page. */
  const query = async (pk: string, range: Range = {}, options: QueryOptions = {}): Promise<Stored[]> => {
    const { limit, maxBytes = Number.POSITIVE_INFINITY, newestFirst = false, attributes } = options;
    const names = Object.fromEntries((attributes ?? []).map((name) => [`#${name}`, name]));
    const input = {
      ...partitionInput(tableName, pk, range),
      ...(attributes && {
        ProjectionExpression: Object.keys(names).join(', '),
        ExpressionAttributeNames: names,
      }),
      ScanIndexForward: !newestFirst,
      Limit: limit,
    };
    const items: Stored[] = [];
    let sizeBytes = 0;
    for await (const page of pages(input)) {
      items.push(...page);
      if (Number.isFinite(maxBytes)) sizeBytes += jsonBytes(page);
      if ((limit !== undefined && items.length >= limit) || sizeBytes >= maxBytes) break;
    }
    return items.slice(0, limit);
  };

  /** One page of a partition: at most `limit` items and 1 MB. */
  const page = async (pk: string, range: Range, limit: number) => {
    const command = new QueryCommand({ ...partitionInput(tableName, pk, range), Limit: limit });
    const { Items = [], LastEvaluatedKey } = await calling(SERVICE, () => client.send(command));
    return { items: Items, hasMore: LastEvaluatedKey !== undefined };
  };

  const startOf = (by: IndexQuery, cursor: string): Stored => {
    const value = sealFor(by).read(cursor);
    if (!isKey(value) || value[by.attribute] !== by.value) throw badCursor();
    return value;
  };

  /** One page of an index, oldest first. */
  const index = async (
    by: IndexQuery,
    limit: number,
    cursor?: string,
  ): Promise<{ items: Stored[]; cursor?: string }> => {
    const { index: IndexName, attribute, value, since } = by;
    const command = new QueryCommand({
      TableName: tableName,
      IndexName,
      KeyConditionExpression: `#attribute = :value${since === undefined ? '' : ' AND #since >= :since'}`,
      ExpressionAttributeNames: {
        '#attribute': attribute,
        ...(since !== undefined && { '#since': since.attribute }),
      },
      ExpressionAttributeValues: { ':value': value, ...(since !== undefined && { ':since': since.value }) },
      Limit: limit,
      ...(cursor === undefined ? {} : { ExclusiveStartKey: startOf(by, cursor) }),
    });
    const { Items = [], LastEvaluatedKey } = await calling(SERVICE, () =>
      client.send(command).catch((error: unknown) => {
        throw cursor !== undefined && isOfCursor(error) ? badCursor(error) : error;
      }),
    );
    return {
      items: Items,
      ...(LastEvaluatedKey === undefined ? {} : { cursor: sealFor(by).write(LastEvaluatedKey) }),
    };
  };

  /** One page of an index, of 1 MB, newest first. `before`: at this value of its sort key or earlier. */
  const newest = async (by: SortedQuery, before?: string): Promise<{ items: Stored[]; hasMore: boolean }> => {
    const command = new QueryCommand({
      TableName: tableName,
      IndexName: by.index,
      KeyConditionExpression: `#attribute = :value${before === undefined ? '' : ' AND #sorted <= :before'}`,
      ExpressionAttributeNames: {
        '#attribute': by.attribute,
        ...(before !== undefined && { '#sorted': by.sortedBy }),
      },
      ExpressionAttributeValues: { ':value': by.value, ...(before !== undefined && { ':before': before }) },
      ScanIndexForward: false,
    });
    const { Items = [], LastEvaluatedKey } = await calling(SERVICE, () => client.send(command));
    return { items: Items, hasMore: LastEvaluatedKey !== undefined };
  };

  return { get, getAll, query, page, index, newest };
};
