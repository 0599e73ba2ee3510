/**
 * Tombstones of compensated effects, and claims of calls, in the Sagas table. They live longer than any
 * provider remembers a key.
 */

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DAY_SECONDS } from '../../../contract/times.ts';
import type { Tombstones } from '../../../core/saga/ports.ts';
import { isNew } from '../conditions.ts';
import { documentClient } from '../document-client.ts';
import { createTable } from '../table.ts';
import { transact } from '../table-writes.ts';
import { BUSY, claimKey, tombstoneKey } from './saga-items.ts';

const LIFETIME_SECONDS = 2 * 366 * DAY_SECONDS;
/** A call that comes later than this is refused by the deadline of its attempt, which is at most 15 minutes. */
const CLAIM_SECONDS = 7 * DAY_SECONDS;

export const createTombstones = (options: {
  sagasTable: string;
  client?: DynamoDBClient;
  now?: () => number;
}): Tombstones => {
  const table = createTable(documentClient(options.client), options.sagasTable);
  const now = options.now ?? Date.now;
  const expiresAt = (seconds: number) => Math.floor(now() / 1000) + seconds;
  return {
    bury: async (forwardKey) => {
      await table.put({ ...tombstoneKey(forwardKey), expiresAt: expiresAt(LIFETIME_SECONDS) });
    },
    claim: async (forwardKey, attempt) => {
      const item = { ...claimKey(forwardKey, attempt), expiresAt: expiresAt(CLAIM_SECONDS) };
      const write = { tableName: table.tableName, item, condition: isNew };
      return (await transact(table.client, [write], BUSY)).written;
    },
    isBuried: async (forwardKey) => (await table.get(tombstoneKey(forwardKey))) !== undefined,
  };
};
