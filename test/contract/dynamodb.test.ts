/** What the functions need of DynamoDB, and what it refuses, of the engine that stands for it here. */
import {
  type AttributeValue,
  BatchWriteItemCommand,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactionCanceledException,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startDynamoDb } from '../../local/dynamodb/server.ts';
import { clientFor, createTable, credentials, openDynamoDb, scratch } from '../support/dynamodb.ts';

describe('what the functions need of DynamoDB', () => {
  let opened: Awaited<ReturnType<typeof openDynamoDb>>;
  let dynamodb: DynamoDBClient;
  beforeAll(async () => {
    opened = await openDynamoDb();
    ({ dynamodb } = opened);
  });
  afterAll(() => opened.close());

  test('a transaction is all or nothing, and gives back the item that was in the way', async () => {
    const first = { pk: { S: 'a' }, sk: { S: '1' }, version: { N: '1' } };
    const put = (Item: typeof first, ConditionExpression?: string) => ({
      Put: {
        TableName: 'sessions',
        Item,
        ...(ConditionExpression !== undefined && {
          ConditionExpression,
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
        }),
      },
    });
    await dynamodb.send(new TransactWriteItemsCommand({ TransactItems: [put(first)] }));

    const second = { ...first, pk: { S: 'b' } };
    const refused = dynamodb.send(
      new TransactWriteItemsCommand({
        TransactItems: [put(second), put(first, 'attribute_not_exists(pk)')],
      }),
    );
    const error = await refused.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TransactionCanceledException);
    const reasons = error instanceof TransactionCanceledException ? error.CancellationReasons : [];
    expect(reasons?.map((reason) => reason.Code)).toEqual(['None', 'ConditionalCheckFailed']);
    expect(reasons?.[1]?.Item).toEqual(first);
    const untouched = await dynamodb.send(
      new GetItemCommand({ TableName: 'sessions', Key: { pk: { S: 'b' }, sk: { S: '1' } } }),
    );
    expect(untouched.Item).toBeUndefined();
  });

  test('text comes back as it was written, also what some programs take for the end of a line', async () => {
    const text = ['\u2028', '\u2029', '\r', '\u0085', '\n', '\v', '\f', '\0', '"', '\\', '🧵'].join('a');
    const Item = { pk: { S: `ends${text}` }, sk: { S: text }, text: { S: text } };
    await dynamodb.send(new PutItemCommand({ TableName: 'sessions', Item }));
    const Key = { pk: Item.pk, sk: Item.sk };
    expect((await dynamodb.send(new GetItemCommand({ TableName: 'sessions', Key }))).Item).toEqual(Item);
  });

  test.each(['PutItem', 'UpdateItem', 'DeleteItem'] as const)(
    'a condition of %s that fails gives back the item, when asked to, and the name of the error',
    async (operation) => {
      const Key = { pk: { S: operation }, sk: { S: '1' } };
      const Item = { ...Key, n: { N: '1.5' }, b: { B: new Uint8Array([0, 255]) } };
      await dynamodb.send(new PutItemCommand({ TableName: 'sessions', Item }));
      const write = async (more: object) => {
        const common = { TableName: 'sessions', ConditionExpression: 'attribute_not_exists(pk)', ...more };
        if (operation === 'PutItem') await dynamodb.send(new PutItemCommand({ ...common, Item }));
        else if (operation === 'DeleteItem') await dynamodb.send(new DeleteItemCommand({ ...common, Key }));
        else await dynamodb.send(new UpdateItemCommand({ ...common, Key, UpdateExpression: 'REMOVE n' }));
      };
      const failed = { name: 'ConditionalCheckFailedException' };
      await expect(write({})).rejects.toMatchObject({ ...failed, Item: undefined });
      await expect(write({ ReturnValuesOnConditionCheckFailure: 'ALL_OLD' })).rejects.toMatchObject({
        ...failed,
        Item,
      });
    },
  );

  test('what the embedded cloud does not offer is refused by name', async () => {
    const KeyConditions = { pk: { ComparisonOperator: 'EQ' as const, AttributeValueList: [{ S: 'a' }] } };
    await expect(
      dynamodb.send(new QueryCommand({ TableName: 'sessions', KeyConditions })),
    ).rejects.toMatchObject({
      name: 'ValidationException',
      message: 'Not offered by the embedded cloud: KeyConditions',
    });
  });

  test('the same client request token is one transaction', async () => {
    const once = new TransactWriteItemsCommand({
      ClientRequestToken: 'only-once',
      TransactItems: [
        {
          Update: {
            TableName: 'sessions',
            Key: { pk: { S: 'counter' }, sk: { S: '1' } },
            UpdateExpression: 'ADD #n :one',
            ExpressionAttributeNames: { '#n': 'n' },
            ExpressionAttributeValues: { ':one': { N: '1' } },
          },
        },
      ],
    });
    await dynamodb.send(once);
    await dynamodb.send(once);
    const { Item } = await dynamodb.send(
      new GetItemCommand({ TableName: 'sessions', Key: { pk: { S: 'counter' }, sk: { S: '1' } } }),
    );
    expect(Item?.['n']).toEqual({ N: '1' });
  });

  test('an index holds exactly the items that have its key', async () => {
    for (const sk of ['1', '2', '3']) {
      const messageId: Record<string, { S: string }> = sk === '3' ? {} : { messageId: { S: 'm1' } };
      const Item = { pk: { S: 'i' }, sk: { S: sk }, ...messageId };
      await dynamodb.send(new PutItemCommand({ TableName: 'sessions', Item }));
    }
    const { Items } = await dynamodb.send(
      new QueryCommand({
        TableName: 'sessions',
        IndexName: 'gsi_message',
        KeyConditionExpression: 'messageId = :m',
        ExpressionAttributeValues: { ':m': { S: 'm1' } },
        ScanIndexForward: false,
      }),
    );
    expect(Items?.map((item) => item['sk']?.S)).toEqual(['2', '1']);
  });
});

describe('what DynamoDB refuses', () => {
  const KIB = 1024;
  const MAX_ITEM = 400 * KIB;
  let opened: Awaited<ReturnType<typeof openDynamoDb>>;
  let dynamodb: DynamoDBClient;
  let url: string;
  beforeAll(async () => {
    opened = await openDynamoDb();
    ({ dynamodb, url } = opened);
  });
  afterAll(() => opened.close());

  /** An item of exactly this size, as the service counts: names and values. */
  const item = (pk: string, sk: number, sizeBytes: number) => ({
    pk: { S: pk },
    sk: { S: `${sk}` },
    x: { S: 'x'.repeat(sizeBytes - 'pkskx'.length - pk.length - `${sk}`.length) },
  });
  const items = (pk: string, count: number, sizeBytes: number) =>
    Array.from({ length: count }, (_, n) => item(pk, n, sizeBytes));
  const put = (Item: ReturnType<typeof item>) =>
    dynamodb.send(new PutItemCommand({ TableName: 'sessions', Item }));
  const transact = (all: ReturnType<typeof item>[]) =>
    dynamodb.send(
      new TransactWriteItemsCommand({
        TransactItems: all.map((Item) => ({ Put: { TableName: 'sessions', Item } })),
      }),
    );
  const batch = (all: ReturnType<typeof item>[]) =>
    dynamodb.send(
      new BatchWriteItemCommand({
        RequestItems: { sessions: all.map((Item) => ({ PutRequest: { Item } })) },
      }),
    );
  const page = async (pk: string) =>
    dynamodb.send(
      new QueryCommand({
        TableName: 'sessions',
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': { S: pk } },
      }),
    );
  const invalid = { name: 'ValidationException' };

  test('an item over 400 KB, alone, in a batch or in a transaction, which then writes nothing', async () => {
    await put(item('item', 1, MAX_ITEM));
    await expect(put(item('item', 2, MAX_ITEM + 1))).rejects.toMatchObject(invalid);
    await expect(batch([item('item', 3, MAX_ITEM + 1)])).rejects.toMatchObject(invalid);
    const mixed = [item('item', 4, 100), item('item', 5, MAX_ITEM + 1)];
    await expect(transact(mixed)).rejects.toMatchObject(invalid);
    expect((await page('item')).Count).toBe(1);
  });

  test('a transaction over 100 actions or 4 MB, a batch over 25 items or 16 MB', async () => {
    await transact(items('actions', 100, 100));
    await expect(transact(items('many', 101, 100))).rejects.toMatchObject(invalid);
    await transact(items('full', 10, MAX_ITEM));
    await expect(transact(items('heavy', 11, MAX_ITEM))).rejects.toMatchObject(invalid);
    await batch(items('batch', 25, 100));
    await expect(batch(items('large', 26, 100))).rejects.toMatchObject(invalid);
    const answer = await fetch(url, { method: 'POST', body: 'x'.repeat(16 * 1024 * KIB + 1) });
    expect([answer.status, await answer.text()]).toEqual([
      400,
      expect.stringContaining('SerializationException'),
    ]);
    expect((await page('many')).Count).toBe(0);
  });

  test('half a character, and levels without end: the next request is answered as ever', async () => {
    const half = { pk: { S: 'half' }, sk: { S: '1' }, x: { S: 'a\ud83d' } };
    await expect(put(half)).rejects.toMatchObject({ name: 'SerializationException' });
    const deep = (levels: number): AttributeValue => (levels === 0 ? { S: 'x' } : { L: [deep(levels - 1)] });
    const nested = (levels: number) => ({ ...item('half', 2, 100), deep: deep(levels) });
    for (const levels of [33, 100, 1_000]) await expect(put(nested(levels))).rejects.toMatchObject(invalid);
    await transact([nested(31)]);
    expect((await page('half')).Count).toBe(1);
  });

  test('a page of a query ends at 1 MB', async () => {
    await batch(items('pages', 6, 300 * KIB));
    const { Count, LastEvaluatedKey } = await page('pages');
    expect(Count).toBe(3);
    expect(LastEvaluatedKey).toMatchObject({ sk: { S: '2' } });
  });
});

describe('the door', () => {
  const listTables = (url: string, headers: Record<string, string>) =>
    fetch(url, {
      method: 'POST',
      headers: {
        'x-amz-target': 'DynamoDB_20120810.ListTables',
        'content-type': 'application/x-amz-json-1.0',
        ...headers,
      },
      body: '{}',
    });

  test('a request with no signature, or another key’s, is refused; no website may ask', async () => {
    await using directory = await scratch();
    const server = await startDynamoDb({ dataDir: directory.path, credentials });
    const bare = await listTables(server.url, {});
    expect([bare.status, await bare.text()]).toEqual([
      400,
      expect.stringContaining('MissingAuthenticationTokenException'),
    ]);
    const page = await listTables(server.url, { origin: 'https://example.com' });
    expect(page.status).toBe(403);
    const preflight = await fetch(server.url, {
      method: 'OPTIONS',
      headers: { origin: 'https://example.com' },
    });
    for (const answer of [page, preflight]) {
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    }
    const stranger = clientFor(server.url, { ...credentials, secretAccessKey: 'guess' });
    await expect(createTable(stranger)).rejects.toMatchObject({ name: 'InvalidSignatureException' });
    stranger.destroy();
    await server.close();
  });
});
