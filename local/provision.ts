/**
 * Makes what the plan names, and leaves what exists alone, so data survives a restart. A table that lacks an
 * index gets it, as in a deployment. Any other difference to the template's shape is an error, never a silent
 * change.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CreateTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  ResourceNotFoundException,
  type TableDescription,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import {
  CreateBucketCommand,
  HeadBucketCommand,
  NotFound,
  PutObjectLockConfigurationCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { WalkbackError } from '../core/shared/errors.ts';
import type { CloudPlan, TablePlan } from './plan.ts';

const createTable = async (dynamodb: DynamoDBClient, table: TablePlan): Promise<void> => {
  const indexes = table.GlobalSecondaryIndexes;
  await dynamodb.send(
    new CreateTableCommand({
      TableName: table.name,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: table.AttributeDefinitions,
      KeySchema: table.KeySchema,
      ...(indexes.length > 0 && { GlobalSecondaryIndexes: indexes }),
      ...(table.StreamSpecification !== undefined && {
        StreamSpecification: { StreamEnabled: true, ...table.StreamSpecification },
      }),
    }),
  );
};

interface KeyPart {
  AttributeName?: string;
  KeyType?: string;
}

const keyText = (keys: KeyPart[] | undefined): string =>
  (keys ?? []).map((key) => `${key.AttributeName}:${key.KeyType}`).join(' ');

type IndexPlan = TablePlan['GlobalSecondaryIndexes'][number];

const missingIndexes = (table: TablePlan, existing: TableDescription): IndexPlan[] => {
  const there = new Set(existing.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName));
  return table.GlobalSecondaryIndexes.filter(({ IndexName }) => !there.has(IndexName));
};

const INDEX_POLLS = 600;
const INDEX_POLL_MS = 500;

/**
 * One after the other, as the service requires. Items that are in the table already are in the index
 * afterwards.
 */
const addIndexes = async (
  dynamodb: DynamoDBClient,
  { name, AttributeDefinitions }: TablePlan,
  missing: readonly IndexPlan[],
): Promise<void> => {
  for (const index of missing) {
    const GlobalSecondaryIndexUpdates = [{ Create: index }];
    await dynamodb.send(
      new UpdateTableCommand({ TableName: name, AttributeDefinitions, GlobalSecondaryIndexUpdates }),
    );
    const isActive = async (): Promise<boolean> => {
      const { Table } = await dynamodb.send(new DescribeTableCommand({ TableName: name }));
      const made = Table?.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === index.IndexName);
      return made?.IndexStatus === 'ACTIVE';
    };
    for (let poll = 0; !(await isActive()); poll += 1) {
      if (poll >= INDEX_POLLS) {
        throw new WalkbackError(
          'StorageUnavailable',
          `The index ${index.IndexName} of table ${name} is still being made. Start again later.`,
          { retryable: true },
        );
      }
      await sleep(INDEX_POLL_MS);
    }
  }
};

/** The table without some of its indexes, and without the attributes that only these need. */
const withoutIndexes = (table: TablePlan, without: readonly IndexPlan[]): TablePlan => {
  const GlobalSecondaryIndexes = table.GlobalSecondaryIndexes.filter((one) => !without.includes(one));
  const keys = [table.KeySchema, ...GlobalSecondaryIndexes.map(({ KeySchema }) => KeySchema)].flat();
  const needed = new Set(keys.map(({ AttributeName }) => AttributeName));
  const AttributeDefinitions = table.AttributeDefinitions.filter(({ AttributeName }) =>
    needed.has(AttributeName),
  );
  return { ...table, GlobalSecondaryIndexes, AttributeDefinitions };
};

/** Everything about a table that cannot be changed without losing or rebuilding data, as comparable lines. */
const shapeOf = (table: TablePlan | TableDescription): string[] => [
  `key ${keyText(table.KeySchema)}`,
  `stream ${table.StreamSpecification?.StreamViewType ?? 'none'}`,
  ...(table.AttributeDefinitions ?? []).map((one) => `attribute ${one.AttributeName}:${one.AttributeType}`),
  ...(table.GlobalSecondaryIndexes ?? []).map(
    ({ IndexName, KeySchema, Projection }) =>
      `index ${IndexName} ${keyText(KeySchema)} ${[Projection?.ProjectionType, ...(Projection?.NonKeyAttributes ?? [])].join(' ')}`,
  ),
];

const shapeErrors = (table: TablePlan, existing: TableDescription): string[] => {
  const wanted = new Set(shapeOf(withoutIndexes(table, missingIndexes(table, existing))));
  const found = new Set(shapeOf(existing));
  const differences = [
    ...[...wanted.difference(found)].map((line) => `missing: ${line}`),
    ...[...found.difference(wanted)].map((line) => `extra: ${line}`),
  ];
  return differences.length === 0 ? [] : [`${table.name} (${differences.join('; ')})`];
};

const describe = async (dynamodb: DynamoDBClient, name: string): Promise<TableDescription | undefined> => {
  try {
    return (await dynamodb.send(new DescribeTableCommand({ TableName: name }))).Table;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
};

/** The existing tables. Checks all of them before anything is made, and reports all problems at once. */
const checkTables = async (
  dynamodb: DynamoDBClient,
  tables: TablePlan[],
): Promise<Map<string, TableDescription>> => {
  const found = await Promise.all(
    tables.map(async (table) => ({ table, existing: await describe(dynamodb, table.name) })),
  );
  const errors = found.flatMap(({ table, existing }) => (existing ? shapeErrors(table, existing) : []));
  if (errors.length > 0) {
    throw new WalkbackError(
      'ConfigurationError',
      `these tables on disk are not the ones the template describes: ${errors.join(', ')}; ` +
        'use a fresh data directory (--data), or the version of Walkback that made this one',
    );
  }
  return new Map(found.flatMap(({ table, existing }) => (existing ? [[table.name, existing] as const] : [])));
};

const enableTimeToLive = async (dynamodb: DynamoDBClient, table: TablePlan): Promise<void> => {
  const ttl = table.TimeToLiveSpecification;
  if (ttl === undefined) return;
  const current = await dynamodb.send(new DescribeTimeToLiveCommand({ TableName: table.name }));
  if (current.TimeToLiveDescription?.AttributeName === ttl.AttributeName) return;
  await dynamodb.send(new UpdateTimeToLiveCommand({ TableName: table.name, TimeToLiveSpecification: ttl }));
};

const provisionBucket = async (
  s3: S3Client,
  name: string,
  lock: CloudPlan['locks'][number] | undefined,
): Promise<void> => {
  try {
    await s3.send(new HeadBucketCommand({ Bucket: name }));
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
    await s3.send(
      new CreateBucketCommand({ Bucket: name, ...(lock && { ObjectLockEnabledForBucket: true }) }),
    );
  }
  if (lock === undefined) return;
  await s3.send(
    new PutObjectLockConfigurationCommand({
      Bucket: name,
      ObjectLockConfiguration: {
        ObjectLockEnabled: 'Enabled',
        Rule: { DefaultRetention: { Mode: 'GOVERNANCE', Days: lock.days } },
      },
    }),
  );
};

/** Idempotent. Throws `ConfigurationError` when a table on disk has another shape; then nothing was made. */
export const provision = async (
  plan: CloudPlan,
  clients: { dynamodb: DynamoDBClient; s3: S3Client },
): Promise<void> => {
  const existing = await checkTables(clients.dynamodb, plan.tables);
  await Promise.all([
    ...plan.tables.map(async (table) => {
      const there = existing.get(table.name);
      if (there === undefined) await createTable(clients.dynamodb, table);
      else await addIndexes(clients.dynamodb, table, missingIndexes(table, there));
      await enableTimeToLive(clients.dynamodb, table);
    }),
    ...plan.buckets.map((bucket) =>
      provisionBucket(
        clients.s3,
        bucket,
        plan.locks.find((lock) => lock.bucket === bucket),
      ),
    ),
  ]);
};
