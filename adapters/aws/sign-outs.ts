/**
 * Sign-outs in the Sessions table, in partitions of their own, which are the only ones that the console may
 * reach.
 */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { SignOuts } from '../../core/people/sign-outs.ts';
import { sha256Hex } from '../../core/shared/ids.ts';
import { documentClient } from './document-client.ts';
import { createTable } from './table.ts';

/**
 * The id of a sign-in opens nothing, but is still not stored in clear. The sort key is not `META`: that marks
 * a session.
 */
const keyOf = (id: string) => ({ pk: `SIGNEDOUT#${sha256Hex(id)}`, sk: 'SIGNEDOUT' });

export const createSignOuts = (options: { tableName: string; client?: DynamoDBClient }): SignOuts => {
  const table = createTable(documentClient(options.client), options.tableName);
  return {
    add: async (id, untilMs) => {
      await table.put({ ...keyOf(id), expiresAt: Math.ceil(untilMs / 1000) });
    },
    has: async (id) => (await table.get(keyOf(id))) !== undefined,
  };
};
