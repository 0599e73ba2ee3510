/**
 * Makes what the plan names, and leaves alone what is there already: data survives a restart. A table whose
 * shape is no longer the template's is an error, never a silent change.
 */
import {
  CreateTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  ResourceNotFoundException,
  type TableDescription,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { CreateBucketCommand, HeadBucketCommand, NotFound, type S3Client } from '@aws-sdk/client-s3';
import { WalkbackError } from '../core/errors.ts';
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

/** Everything about a table that can not be changed without losing or rebuilding data, as comparable lines. */
const shapeOf = (table: TablePlan | TableDescription): string[] => [
  `key ${keyText(table.KeySchema)}`,
  `stream ${table.StreamSpecification?.StreamViewType ?? 'none'}`,
  ...(table.AttributeDefinitions ?? []).map((one) => `attribute ${one.AttributeName}:${one.AttributeType}`),
  ...(table.GlobalSecondaryIndexes ?? []).map(
    (index) => `index ${index.IndexName} ${keyText(index.KeySchema)} ${index.Projection?.ProjectionType}`,
  ),
];

const checkShape = (table: TablePlan, existing: TableDescription): void => {
  const wanted = new Set(shapeOf(table));
  const found = new Set(shapeOf(existing));
  const differences = [
    ...[...wanted.difference(found)].map((line) => `missing: ${line}`),
    ...[...found.difference(wanted)].map((line) => `extra: ${line}`),
  ];
  if (differences.length === 0) return;
  throw new WalkbackError(
    'ConfigurationError',
    `table ${table.name} on disk is not the one the template describes (${differences.join('; ')}); ` +
      'use a fresh data directory (--data), or the version of Walkback that made this one',
  );
};

const describe = async (dynamodb: DynamoDBClient, name: string): Promise<TableDescription | undefined> => {
  try {
    return (await dynamodb.send(new DescribeTableCommand({ TableName: name }))).Table;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
};

const provisionTable = async (dynamodb: DynamoDBClient, table: TablePlan): Promise<void> => {
  const existing = await describe(dynamodb, table.name);
  if (existing === undefined) await createTable(dynamodb, table);
  else checkShape(table, existing);
  const ttl = table.TimeToLiveSpecification;
  if (ttl === undefined) return;
  const current = await dynamodb.send(new DescribeTimeToLiveCommand({ TableName: table.name }));
  if (current.TimeToLiveDescription?.AttributeName === ttl.AttributeName) return;
  await dynamodb.send(new UpdateTimeToLiveCommand({ TableName: table.name, TimeToLiveSpecification: ttl }));
};

const provisionBucket = async (s3: S3Client, name: string): Promise<void> => {
  try {
    await s3.send(new HeadBucketCommand({ Bucket: name }));
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
    await s3.send(new CreateBucketCommand({ Bucket: name }));
  }
};

/** Idempotent. `ConfigurationError` when a table on disk has another shape. */
export const provision = async (
  plan: CloudPlan,
  clients: { dynamodb: DynamoDBClient; s3: S3Client },
): Promise<void> => {
  await Promise.all([
    ...plan.tables.map((table) => provisionTable(clients.dynamodb, table)),
    ...plan.buckets.map((bucket) => provisionBucket(clients.s3, bucket)),
  ]);
};
