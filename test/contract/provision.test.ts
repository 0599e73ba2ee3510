import { mkdir, mkdtempDisposable, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  PutItemCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import { HeadBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDynamoDb } from '../../local/dynamodb/server.ts';
import { type CloudPlan, planCloud } from '../../local/plan.ts';
import { provision } from '../../local/provision.ts';
import { startS3 } from '../../local/s3/server.ts';
import { loadTemplate } from '../../local/template.ts';

const credentials = { accessKeyId: 'LKIATEST', secretAccessKey: 'not a secret' };
const region = 'us-east-1';
const disposal = new AsyncDisposableStack();
let dataDir: string;
let plan: CloudPlan;
let clients: { dynamodb: DynamoDBClient; s3: S3Client };

beforeAll(async () => {
  dataDir = disposal.use(await mkdtempDisposable(join(tmpdir(), 'walkback-provision-'))).path;
  const tables = await startDynamoDb({ dataDir, credentials });
  disposal.defer(() => tables.close());
  const objects = await startS3({ dataDir: join(dataDir, 's3'), credentials, region });
  disposal.defer(() => objects.close());
  clients = {
    dynamodb: new DynamoDBClient({ endpoint: tables.url, region, credentials }),
    s3: new S3Client({ endpoint: objects.url, region, credentials, forcePathStyle: true }),
  };
  plan = planCloud(await loadTemplate());
});
afterAll(() => disposal.disposeAsync());

test('the template’s tables and buckets exist afterwards, also when provisioned again', async () => {
  await provision(plan, clients);
  await provision(plan, clients);
  const [sessions] = plan.tables;
  expect(plan.tables).toHaveLength(3);
  const { Table } = await clients.dynamodb.send(new DescribeTableCommand({ TableName: sessions?.name }));
  expect(Table?.GlobalSecondaryIndexes?.map((index) => index.IndexName).sort()).toEqual([
    'gsi_checkpoint',
    'gsi_message',
    'gsi_session',
    'gsi_words',
  ]);
  expect(Table?.StreamSpecification).toMatchObject({ StreamViewType: 'NEW_AND_OLD_IMAGES' });
  const ttl = await clients.dynamodb.send(new DescribeTimeToLiveCommand({ TableName: sessions?.name }));
  expect(ttl.TimeToLiveDescription).toMatchObject({
    AttributeName: 'expiresAt',
    TimeToLiveStatus: 'ENABLED',
  });
  for (const Bucket of plan.buckets) await clients.s3.send(new HeadBucketCommand({ Bucket }));
  expect(plan.buckets).toHaveLength(3);
});

test('a data directory of before gets the index that it lacks, with what it holds, and one that is half made is finished', async () => {
  const before: CloudPlan = {
    ...plan,
    tables: plan.tables.map((table) => {
      const GlobalSecondaryIndexes = table.GlobalSecondaryIndexes.filter(
        ({ IndexName }) => IndexName !== 'gsi_session',
      );
      const AttributeDefinitions = table.AttributeDefinitions.filter(
        ({ AttributeName }) => AttributeName !== 'createdAt' && AttributeName !== 'requestHash',
      );
      return { ...table, name: `before-${table.name}`, GlobalSecondaryIndexes, AttributeDefinitions };
    }),
  };
  await provision(before, clients);
  const name = before.tables[0]?.name ?? '';
  const put = (item: Record<string, string>) =>
    clients.dynamodb.send(new PutItemCommand({ TableName: name, Item: marshall(item) }));
  await put({ pk: 'SESSION#a', sk: 'META', createdAt: 't', requestHash: 'h' });
  await put({ pk: 'SESSION#a', sk: 'CP#00000001', createdAt: 't' });
  const now = { ...plan, tables: plan.tables.map((table) => ({ ...table, name: `before-${table.name}` })) };
  await provision(now, clients);
  await provision(now, clients);
  const rows = await clients.dynamodb.send(new ScanCommand({ TableName: name, IndexName: 'gsi_session' }));
  expect(rows.Items?.map(({ pk, sk }) => [pk?.S, sk?.S])).toEqual([['SESSION#a', 'META']]);
  // The release before says what it does not know, and changes nothing.
  await expect(provision(before, clients)).rejects.toMatchObject({
    message: expect.stringContaining('extra: '),
  });
});

test('a bucket of which only the mark of its object lock could not be written is made by the next try', async () => {
  const named: CloudPlan = {
    ...plan,
    tables: [],
    buckets: plan.buckets.map((bucket) => `half-${bucket}`),
    locks: plan.locks.map((lock) => ({ ...lock, bucket: `half-${lock.bucket}` })),
  };
  // A directory where a file is to be written fails as a full disk does.
  const marks = named.locks.map(({ bucket }) => join(dataDir, 's3', 'locks', `${bucket}.json`));
  expect(marks).not.toEqual([]);
  for (const mark of marks) await mkdir(mark, { recursive: true });
  await expect(provision(named, clients)).rejects.toThrow();
  for (const mark of marks) await rm(mark, { recursive: true });
  await provision(named, clients);
  await provision(named, clients);
});

test('tables of another shape are one error that names every difference', async () => {
  await provision(plan, clients);
  const changed: CloudPlan = {
    ...plan,
    tables: plan.tables.map((table) => ({
      ...table,
      GlobalSecondaryIndexes: table.GlobalSecondaryIndexes.slice(1),
    })),
  };
  await expect(provision(changed, clients)).rejects.toMatchObject({
    name: 'ConfigurationError',
    message: expect.stringMatching(/extra: index gsi_checkpoint.*extra: index gsi_.*--data/),
  });
});
