import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DescribeTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient, ExpiredIteratorException } from '@aws-sdk/client-dynamodb-streams';
import { S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { startDynamoDb } from '../../local/dynamodb/server.ts';
import type { InvocationResult } from '../../local/lambda/run-handler.ts';
import type { StreamPlan, TablePlan } from '../../local/plan.ts';
import { provision } from '../../local/provision.ts';
import { createChanges } from '../../local/streams/changes.ts';
import { deleteExpired } from '../../local/streams/expiry.ts';
import { type PumpOptions, startPump } from '../../local/streams/pump.ts';
import type { EventRecord } from '../../local/streams/record.ts';

const conf = { region: 'us-east-1', credentials: { accessKeyId: 'any', secretAccessKey: 'any' } };
const silent = { info: () => undefined, warn: () => undefined };
const disposal = new AsyncDisposableStack();
let dynamodb: DynamoDBClient;
const changes = createChanges();
let endpoint: string;
let streams: DynamoDBStreamsClient;
let table: TablePlan;
let dataDir: string;
let tableNumber = 0;

beforeAll(async () => {
  const directory = disposal.use(await mkdtempDisposable(join(tmpdir(), 'walkback-streams-')));
  const server = await startDynamoDb({ dataDir: directory.path, credentials: conf.credentials, changes });
  disposal.defer(() => server.close());
  dynamodb = new DynamoDBClient({ ...conf, endpoint: server.url });
  endpoint = server.url;
  streams = new DynamoDBStreamsClient({ ...conf, endpoint });
});
afterAll(() => disposal.disposeAsync());

beforeEach(async () => {
  tableNumber += 1;
  table = {
    name: `table-${tableNumber}`,
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    GlobalSecondaryIndexes: [],
    TimeToLiveSpecification: { AttributeName: 'expiresAt', Enabled: true },
    StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
  };
  const plan = {
    tables: [table],
    buckets: [],
    locks: [],
    signingKeys: [],
    eventBuses: [],
    topics: [],
    functions: [],
    streams: [],
    stateMachines: [],
    rules: [],
    routes: [],
  };
  await provision(plan, { dynamodb, s3: new S3Client(conf) });
  const directory = disposal.use(await mkdtempDisposable(join(tmpdir(), 'walkback-streams-')));
  dataDir = directory.path;
});

const put = (pk: string, more: Record<string, { N: string } | { B: Uint8Array }> = {}) =>
  dynamodb.send(new PutItemCommand({ TableName: table.name, Item: { pk: { S: pk }, ...more } }));

const keyOf = (record: EventRecord): string => record.dynamodb.Keys['pk']?.S ?? '';

interface Consumer {
  /** Keys of every batch the function took. */
  taken: string[][];
  attempts: string[][];
  records: EventRecord[];
  /** Says which batches fail. */
  answer: (keys: string[], records: EventRecord[]) => InvocationResult;
}

const OK: InvocationResult = { failed: false, payload: 'null' };
const FAILED: InvocationResult = { failed: true, payload: '{"errorType":"Broken"}' };

const createConsumer = (answer: Consumer['answer'] = () => OK): Consumer => ({
  taken: [],
  attempts: [],
  records: [],
  answer,
});

/** Counts how often it reads, and fails as it is told. */
const countingStreams = (fail: (read: number) => Error | undefined = () => undefined) => {
  const client = disposal.adopt(new DynamoDBStreamsClient({ ...conf, endpoint }), (one) => one.destroy());
  const reads = { count: 0 };
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName !== 'GetRecordsCommand') return next(args);
        reads.count += 1;
        const error = fail(reads.count);
        if (error !== undefined) throw error;
        return next(args);
      },
    { step: 'initialize' },
  );
  return { client, reads };
};

const pumpInto = async (
  consumer: Consumer,
  more: Partial<StreamPlan> = {},
  others: Partial<Pick<PumpOptions, 'streams' | 'changes' | 'log'>> = {},
) => {
  const described = await dynamodb.send(new DescribeTableCommand({ TableName: table.name }));
  return startPump({
    plan: {
      tableName: table.name,
      functionName: 'consumer',
      batchSize: 10,
      windowMs: 0,
      maxRetries: 1,
      bisects: true,
      reportsItemFailures: true,
      ...more,
    },
    ttlAttribute: 'expiresAt',
    streamArn: described.Table?.LatestStreamArn ?? '',
    streams,
    dataDir,
    changes,
    invoke: async (event) => {
      const { Records } = event as { Records: EventRecord[] };
      const keys = Records.map(keyOf);
      consumer.attempts.push(keys);
      const answer = consumer.answer(keys, Records);
      if (!answer.failed) {
        consumer.taken.push(keys);
        consumer.records.push(...Records);
      }
      return answer;
    },
    log: silent,
    ...others,
  });
};

test('every change arrives in order, as the record Lambda is given', async () => {
  const beganSeconds = Math.floor(Date.now() / 1000);
  await put('a', { bytes: { B: new Uint8Array([1, 2, 255]) } });
  await put('b');
  const consumer = createConsumer();
  const pump = await pumpInto(consumer);
  await dynamodb.send(
    new UpdateItemCommand({
      TableName: table.name,
      Key: { pk: { S: 'a' } },
      UpdateExpression: 'SET n = :n',
      ExpressionAttributeValues: { ':n': { N: '7' } },
    }),
  );
  await pump.drained();
  await pump.close();

  expect(consumer.taken.flat()).toEqual(['a', 'b', 'a']);
  expect(consumer.records.map((record) => record.eventName)).toEqual(['INSERT', 'INSERT', 'MODIFY']);
  const [first, , last] = consumer.records;
  expect(first?.dynamodb.NewImage).toEqual({ pk: { S: 'a' }, bytes: { B: 'AQL/' } });
  expect(first?.eventSourceARN).toContain(table.name);
  expect(first?.dynamodb.ApproximateCreationDateTime).toBeGreaterThanOrEqual(beganSeconds);
  expect(first?.dynamodb.ApproximateCreationDateTime).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000));
  expect(last?.dynamodb.OldImage).toEqual(first?.dynamodb.NewImage);
  expect(last?.dynamodb.NewImage).toMatchObject({ n: { N: '7' } });
});

test('a restart goes on where the last one stopped', async () => {
  const consumer = createConsumer();
  await put('before');
  const first = await pumpInto(consumer);
  await first.drained();
  await first.close();
  await put('while nobody listened');
  const second = await pumpInto(consumer);
  await put('after');
  await second.drained();
  await second.close();
  expect(consumer.taken.flat()).toEqual(['before', 'while nobody listened', 'after']);
});

test('what was being delivered when it stopped is delivered again', async () => {
  await put('a');
  const reached = Promise.withResolvers<void>();
  const failing = createConsumer(() => {
    reached.resolve();
    return FAILED;
  });
  const first = await pumpInto(failing, { maxRetries: -1 });
  await reached.promise;
  await first.close();
  const consumer = createConsumer();
  const second = await pumpInto(consumer);
  await second.drained();
  await second.close();
  expect(consumer.taken.flat()).toEqual(['a']);
});

test('one poisoned record is isolated, tried again, and kept; the others get through', async () => {
  for (const key of ['a', 'b', 'poison', 'c']) await put(key);
  const consumer = createConsumer((keys) => (keys.includes('poison') ? FAILED : OK));
  const pump = await pumpInto(consumer);
  await pump.drained();
  await pump.close();
  expect(consumer.taken.flat()).toEqual(['a', 'b', 'c']);
  expect(consumer.attempts.filter((keys) => keys.join() === 'poison')).toHaveLength(2);
  const letters = await readFile(join(dataDir, 'dead-letters.jsonl'), 'utf8');
  const letter = JSON.parse(letters) as { error: string; records: EventRecord[] };
  expect(letter.records.map(keyOf)).toEqual(['poison']);
  expect(letter.error).toContain('Broken');
});

test('a function that says from which record on it failed gets those again', async () => {
  for (const key of ['a', 'b', 'c']) await put(key);
  let first = true;
  const consumer = createConsumer((_, records) => {
    if (!first) return OK;
    first = false;
    const itemIdentifier = records[1]?.dynamodb.SequenceNumber;
    return { failed: false, payload: JSON.stringify({ batchItemFailures: [{ itemIdentifier }] }) };
  });
  const pump = await pumpInto(consumer, { bisects: false });
  await pump.drained();
  await pump.close();
  expect(consumer.attempts).toEqual([
    ['a', 'b', 'c'],
    ['b', 'c'],
  ]);
});

test('an expired item goes, and its removal is marked as the service’s; others stay', async () => {
  const now = Math.floor(Date.now() / 1000);
  await put('expired', { expiresAt: { N: String(now - 10) } });
  await put('alive', { expiresAt: { N: String(now + 3_600) } });
  await put('forever');
  await put('ancient', { expiresAt: { N: '1' } });
  expect(await deleteExpired(dynamodb, table)).toBe(1);
  expect(await deleteExpired(dynamodb, table)).toBe(0);

  const gone = await dynamodb.send(
    new GetItemCommand({ TableName: table.name, Key: { pk: { S: 'expired' } } }),
  );
  expect(gone.Item).toBeUndefined();
  const consumer = createConsumer();
  const pump = await pumpInto(consumer);
  await pump.drained();
  await pump.close();
  const removals = consumer.records.filter((record) => record.eventName === 'REMOVE');
  expect(removals.map(keyOf)).toEqual(['expired']);
  expect(removals[0]).toMatchObject({
    userIdentity: { type: 'Service', principalId: 'dynamodb.amazonaws.com' },
    dynamodb: { OldImage: { pk: { S: 'expired' } } },
  });
});

test('a table to which nobody writes is not asked, and a write is delivered by itself', async () => {
  const consumer = createConsumer();
  const told = countingStreams();
  const pump = await pumpInto(consumer, {}, { streams: told.client });
  await pump.drained();
  const { count } = told.reads;
  // Nobody tells this one, so it asks again and again: it is the clock.
  const untold = countingStreams();
  const asking = await pumpInto(createConsumer(), {}, { streams: untold.client, changes: createChanges() });
  await vi.waitUntil(() => untold.reads.count >= 5, 60_000);
  expect(told.reads.count).toBeLessThanOrEqual(count + 1);
  await put('a');
  await vi.waitUntil(() => consumer.taken.length > 0, 60_000);
  expect(consumer.taken).toEqual([['a']]);
  await Promise.all([pump.close(), asking.close()]);
});

test('an iterator that expired while nothing was written is opened again where it stood', async () => {
  const consumer = createConsumer();
  const expiring = countingStreams((read) =>
    read === 3 ? new ExpiredIteratorException({ message: 'expired', $metadata: {} }) : undefined,
  );
  const warnings: string[] = [];
  const log = { ...silent, warn: (message: string) => void warnings.push(message) };
  await put('a');
  const pump = await pumpInto(consumer, {}, { streams: expiring.client, log });
  await pump.drained();
  await put('b');
  await pump.drained();
  await pump.close();
  expect(expiring.reads.count).toBeGreaterThan(3);
  expect([consumer.taken.flat(), warnings]).toEqual([['a', 'b'], []]);
});
