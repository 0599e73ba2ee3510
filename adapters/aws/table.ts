/** One table: its reads and its writes. Sessions and sagas talk to DynamoDB only through it. */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { tableReads } from './table-reads.ts';
import { tableWrites } from './table-writes.ts';

export const createTable = (client: DynamoDBDocumentClient, tableName: string) => ({
  ...tableReads(client, tableName),
  ...tableWrites(client, tableName),
  client,
  tableName,
});

export type Table = ReturnType<typeof createTable>;
