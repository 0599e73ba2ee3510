import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempDisposable, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  BatchWriteItemCommand,
  CreateTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactionCanceledException,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findDynamoDb } from '../../local/dynamodb/binary.ts';
import { startDynamoDb } from '../../local/dynamodb/server.ts';
import type { Endpoint } from '../../local/listen.ts';
import { listenOnLoopback } from '../support/loopback.ts';

const credentials = { accessKeyId: 'LKIATEST', secretAccessKey: 'not a secret' };
const scratch = () => mkdtempDisposable(join(tmpdir(), 'walkback-dynamodb-'));

const clientFor = (url: string, keys = credentials): DynamoDBClient =>
  new DynamoDBClient({
    endpoint: url,
    region: 'us-east-1',
    credentials: keys,
    maxAttempts: 1,
  });

const text = (AttributeName: string) => ({ AttributeName, AttributeType: 'S' as const });
const createTable = (dynamodb: DynamoDBClient) =>
  dynamodb.send(
    new CreateTableCommand({
      TableName: 'sessions',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [text('pk'), text('sk'), text('messageId')],
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'gsi_message',
          KeySchema: [
            { AttributeName: 'messageId', KeyType: 'HASH' },
            { AttributeName: 'sk', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'KEYS_ONLY' },
        },
      ],
    }),
  );

const processesUsing = (marker: string): string[] => {
  try {
    return execFileSync('pgrep', ['-f', marker], { encoding: 'utf8' }).trim().split('\n');
  } catch {
    return [];
  }
};

describe('what the functions need of DynamoDB', () => {
  let server: Endpoint;
  let dynamodb: DynamoDBClient;
  const disposal = new AsyncDisposableStack();
  beforeAll(async () => {
    const directory = disposal.use(await scratch());
    server = await startDynamoDb({ dataDir: directory.path, credentials });
    disposal.defer(() => server.close());
    dynamodb = clientFor(server.url);
    disposal.defer(() => dynamodb.destroy());
    await createTable(dynamodb);
  });
  afterAll(() => disposal.disposeAsync());

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
  let url: string;
  let dynamodb: DynamoDBClient;
  const disposal = new AsyncDisposableStack();
  beforeAll(async () => {
    const directory = disposal.use(await scratch());
    const server = await startDynamoDb({ dataDir: directory.path, credentials });
    url = server.url;
    disposal.defer(() => server.close());
    dynamodb = clientFor(server.url);
    disposal.defer(() => dynamodb.destroy());
    await createTable(dynamodb);
  });
  afterAll(() => disposal.disposeAsync());

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
    const bare = await listTables(server.url, { origin: 'https://example.com' });
    expect([bare.status, await bare.text()]).toEqual([
      400,
      expect.stringContaining('MissingAuthenticationTokenException'),
    ]);
    const preflight = await fetch(server.url, {
      method: 'OPTIONS',
      headers: { origin: 'https://example.com' },
    });
    for (const answer of [bare, preflight]) {
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    }
    const stranger = clientFor(server.url, { ...credentials, secretAccessKey: 'guess' });
    await expect(createTable(stranger)).rejects.toMatchObject({ name: 'InvalidSignatureException' });
    stranger.destroy();
    await server.close();
  });
});

describe('the DynamoDB process', () => {
  test('keeps its data across a restart and leaves no process', async () => {
    await using directory = await scratch();
    const first = await startDynamoDb({ dataDir: directory.path, credentials });
    const before = clientFor(first.url);
    await createTable(before);
    const Item = { pk: { S: 'kept' }, sk: { S: '1' } };
    await before.send(new PutItemCommand({ TableName: 'sessions', Item }));
    before.destroy();
    await first.close();
    expect(processesUsing(directory.path)).toEqual([]);

    const second = await startDynamoDb({ dataDir: directory.path, credentials });
    const after = clientFor(second.url);
    const found = await after.send(new GetItemCommand({ TableName: 'sessions', Key: Item }));
    after.destroy();
    await second.close();
    expect(found.Item).toEqual(Item);
  });

  test('is gone soon after its parent was killed without warning', async () => {
    await using directory = await scratch();
    const script = `
      import { startDynamoDb } from ${JSON.stringify(join(import.meta.dirname, '../../local/dynamodb/server.ts'))};
      const server = await startDynamoDb({ dataDir: ${JSON.stringify(directory.path)}, credentials: ${JSON.stringify(credentials)} });
      console.log(server.url);
      setInterval(() => undefined, 1_000);`;
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(parent.stdout, 'data');
    expect(processesUsing(directory.path)).not.toEqual([]);
    parent.kill('SIGKILL');
    await expect.poll(() => processesUsing(directory.path), { timeout: 5_000 }).toEqual([]);
  });

  test('refuses a taken port by its number', async () => {
    await using directory = await scratch();
    const taken = createServer();
    const port = await listenOnLoopback(taken);
    await expect(startDynamoDb({ dataDir: directory.path, credentials, port })).rejects.toMatchObject({
      name: 'ConfigurationError',
      message: expect.stringContaining(`port ${port}`),
    });
    taken.close();
  });

  test('that can not start says why', async () => {
    await using directory = await scratch();
    const source = { kind: 'binary', path: '/bin/false' } as const;
    await expect(startDynamoDb({ dataDir: directory.path, credentials, source })).rejects.toMatchObject({
      name: 'ConfigurationError',
      message: expect.stringContaining('ended with 1'),
    });
  });

  test('takes another port when somebody has the one it found', async () => {
    await using directory = await scratch();
    const { path } = findDynamoDb(process.env) as { path: string };
    const unlucky = join(directory.path, 'dynoxide');
    const takenOnce = `if mkdir ${directory.path}/unlucky 2>/dev/null; then echo "error: port 7 is already in use" >&2; exit 1; fi`;
    await writeFile(unlucky, `#!/bin/sh\n${takenOnce}\nexec ${path} "$@"\n`, { mode: 0o755 });
    const source = { kind: 'binary', path: unlucky } as const;
    const server = await startDynamoDb({ dataDir: directory.path, credentials, source });
    await server.close();
    expect(await readdir(directory.path)).toContain('unlucky');
  });

  test('can be somebody else’s endpoint, which must answer', async () => {
    await using directory = await scratch();
    const source = { kind: 'endpoint', url: 'http://127.0.0.1:1' } as const;
    await expect(startDynamoDb({ dataDir: directory.path, credentials, source })).rejects.toMatchObject({
      name: 'ConfigurationError',
      message: expect.stringContaining('http://127.0.0.1:1'),
    });
  });

  test('comes from the npm package, else PATH, else an endpoint, else says what to install', async () => {
    expect(findDynamoDb({}, '/bin/true')).toEqual({ kind: 'binary', path: '/bin/true' });

    await using directory = await scratch();
    const path = join(directory.path, 'dynoxide');
    await writeFile(path, '#!/bin/sh\n', { mode: 0o755 });
    const env = { PATH: `/nowhere:${directory.path}`, AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:8000' };
    expect(findDynamoDb(env, '')).toEqual({ kind: 'binary', path });
    expect(findDynamoDb({ ...env, PATH: '/nowhere' }, '')).toEqual({
      kind: 'endpoint',
      url: env.AWS_ENDPOINT_URL_DYNAMODB,
    });
    expect(() => findDynamoDb({ PATH: '/nowhere' }, '')).toThrow(/install @dynoxide\//);
  });
});
