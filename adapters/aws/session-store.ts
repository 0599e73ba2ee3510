/** The Sessions table behind its port: DynamoDB, one item per noun, one transaction per move (C1). */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { SessionStore } from '../../core/ports.ts';
import { CLIENT_DEFAULTS } from './client-defaults.ts';
import { createSessionsTable } from './sessions-table.ts';
import { createBundleMethods } from './store-bundles.ts';
import { createCheckpointMethods } from './store-checkpoints.ts';
import { createJournalMethods } from './store-journals.ts';
import { createSessionMethods } from './store-sessions.ts';

export const createSessionStore = (options: { tableName: string; client?: DynamoDBClient }): SessionStore => {
  const client = DynamoDBDocumentClient.from(options.client ?? new DynamoDBClient(CLIENT_DEFAULTS), {
    marshallOptions: { removeUndefinedValues: true },
  });
  const table = createSessionsTable(client, options.tableName);
  return {
    ...createSessionMethods(table),
    ...createCheckpointMethods(table),
    ...createBundleMethods(table),
    ...createJournalMethods(table),
  };
};
