/** Tombstones of compensated effects, in the Sagas table. They outlive every key a provider remembers. */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Tombstones } from '../../../core/saga/ports.ts';
import { documentClient } from '../document-client.ts';
import { tombstoneKey } from './saga-items.ts';
import { createSagaTables } from './saga-tables.ts';

const LIFETIME_SECONDS = 2 * 366 * 24 * 3600;

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
    isBuried: async (forwardKey) =>
      (await tables.get(options.sagasTable, tombstoneKey(forwardKey))) !== undefined,
  };
};
