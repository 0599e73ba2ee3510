/** Tombstones of compensated effects, and claims of calls, in the Sagas table. They outlive every key a provider remembers. */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Tombstones } from '../../../core/saga/ports.ts';
import { isNew } from '../conditions.ts';
import { documentClient } from '../document-client.ts';
import { claimKey, tombstoneKey } from './saga-items.ts';
import { createSagaTables } from './saga-tables.ts';

const LIFETIME_SECONDS = 2 * 366 * 24 * 3600;
/** Later, the call is refused by the deadline of its attempt, which is at most 15 minutes. */
const CLAIM_SECONDS = 7 * 24 * 3600;

export const createTombstones = (options: {
  sagasTable: string;
  client?: DynamoDBClient;
  now?: () => number;
}): Tombstones => {
  const tables = createSagaTables(documentClient(options.client));
  const now = options.now ?? Date.now;
  return {
    bury: (forwardKey) =>
      tables.overwrite(options.sagasTable, {
        ...tombstoneKey(forwardKey),
        expiresAt: Math.floor(now() / 1000) + LIFETIME_SECONDS,
      }),
    claim: (forwardKey, attempt) =>
      tables.transact([
        {
          tableName: options.sagasTable,
          item: {
            ...claimKey(forwardKey, attempt),
            expiresAt: Math.floor(now() / 1000) + CLAIM_SECONDS,
          },
          condition: isNew,
        },
      ]),
    isBuried: async (forwardKey) =>
      (await tables.get(options.sagasTable, tombstoneKey(forwardKey))) !== undefined,
  };
};
