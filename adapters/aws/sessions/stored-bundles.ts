/**
 * Inventory: links of chains, bases, and uploads that no item names yet. It is invisible until a checkpoint
 * names it.
 */
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import pLimit from 'p-limit';
import type { SessionStore } from '../../../core/checkpoint/ports/stores.ts';
import { WalkbackError } from '../../../core/shared/errors.ts';
import { toWalkbackError } from '../errors.ts';
import { lastingInput } from '../lasting-item.ts';
import type { Table } from '../table.ts';
import type { Item } from '../table-reads.ts';
import { linkItem, uploadItem } from './session-items.ts';
import { baseKey, linkPrefix, sessionKey, uploadKey } from './session-keys.ts';
import { readBase, readLink, readUpload } from './stored-items.ts';

type Methods = Pick<
  SessionStore,
  'putLinks' | 'listLinks' | 'getBase' | 'putBase' | 'getUpload' | 'putUploads'
>;

const PARALLEL = 16;

export const createBundleMethods = (table: Table): Methods => {
  /** An item's content is written once; after that only its expiry grows. Answers the stored item. */
  const keepItem = async (item: Item): Promise<Record<string, unknown>> => {
    const command = new UpdateCommand({
      ...lastingInput(table.tableName, item),
      ConditionExpression: 'attribute_not_exists(expiresAt) OR expiresAt < :expiresAt',
      ReturnValues: 'ALL_NEW',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    try {
      const { Attributes } = await table.client.send(command);
      if (Attributes !== undefined) return Attributes;
    } catch (error) {
      if (!(error instanceof ConditionalCheckFailedException)) throw toWalkbackError('DynamoDB', error);
      if (error.Item !== undefined) return unmarshall(error.Item);
    }
    throw new WalkbackError('StorageUnavailable', 'DynamoDB did not answer what is stored. Call again.', {
      retryable: true,
    });
  };

  return {
    putLinks: async (links) => {
      const limit = pLimit(PARALLEL);
      await Promise.all(links.map((link) => limit(() => keepItem(linkItem(link)))));
    },
    listLinks: async (sessionId, chainId) =>
      (await table.query(sessionKey(sessionId).pk, { prefix: linkPrefix(chainId) })).map(readLink),
    getBase: async (name, owner) => {
      const item = await table.get(baseKey(name, owner));
      return item === undefined ? undefined : readBase(item);
    },
    putBase: async (base) => readBase(await keepItem({ ...baseKey(base.name, base.owner), ...base })),
    getUpload: async (key) => {
      const item = await table.get(uploadKey(key));
      return item === undefined ? undefined : readUpload(item);
    },
    putUploads: (uploads) =>
      // A batch may not name an item twice.
      table.putAll([...new Map(uploads.map((one) => [one.key, uploadItem(one)])).values()]),
  };
};
