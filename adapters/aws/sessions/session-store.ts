/** The Sessions table behind its port: DynamoDB, one item per noun, one transaction per move (C1). */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { SessionStore } from '../../../core/checkpoint/ports/stores.ts';
import { documentClient } from '../document-client.ts';
import { createTable } from '../table.ts';
import { createGetItems } from './get-items.ts';
import { createCheckpointMethods } from './store-checkpoints.ts';
import { createJournalMethods } from './store-journals.ts';
import { createSessionMethods } from './store-sessions.ts';
import { createBundleMethods } from './stored-bundles.ts';

export const createSessionStore = (options: { tableName: string; client?: DynamoDBClient }): SessionStore => {
  const table = createTable(documentClient(options.client), options.tableName);
  const bundleMethods = createBundleMethods(table);
  return {
    ...createSessionMethods(table),
    getItems: createGetItems(table),
    ...createCheckpointMethods(table, bundleMethods),
    ...bundleMethods,
    ...createJournalMethods(table),
  };
};
