/** Inventory: links of chains and bases. Nobody sees it until a checkpoint names it. */
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { ChainLink, StoredBase } from '../../../core/checkpoint/model.ts';
import type { SessionStore } from '../../../core/checkpoint/ports/stores.ts';
import { WalkbackError } from '../../../core/shared/errors.ts';
import { calling } from '../errors.ts';
import { fromItem, linkItem } from './session-items.ts';
import { baseKey, linkPrefix, sessionKey } from './session-keys.ts';
import type { SessionsTable } from './sessions-table.ts';

type Methods = Pick<SessionStore, 'putLinks' | 'listLinks' | 'getBase' | 'putBase'>;

/** What a base is, is said once; only its life grows. */
const FIXED = ['name', 'commit', 'shallow', 'partial', 'key', 'sizeBytes', 'sha256'] as const;

export const createBundleMethods = (table: SessionsTable): Methods => {
  const getBase: Methods['getBase'] = async (name) => {
    const item = await table.get(baseKey(name));
    return item === undefined ? undefined : fromItem<StoredBase>(item);
  };

  const prolong = async (base: StoredBase): Promise<StoredBase> => {
    const stored = await getBase(base.name);
    if (stored !== undefined && stored.expiresAt >= base.expiresAt) return stored;
    const command = new UpdateCommand({
      TableName: table.tableName,
      Key: baseKey(base.name),
      UpdateExpression: `SET ${FIXED.map((name) => `#${name} = if_not_exists(#${name}, :${name})`).join(', ')}, expiresAt = :expiresAt`,
      ExpressionAttributeNames: Object.fromEntries(FIXED.map((name) => [`#${name}`, name])),
      ExpressionAttributeValues: {
        ...Object.fromEntries(FIXED.map((name) => [`:${name}`, base[name]])),
        ':expiresAt': base.expiresAt,
      },
      ReturnValues: 'ALL_NEW',
    });
    const { Attributes } = await calling('DynamoDB', () => table.client.send(command));
    if (Attributes === undefined)
      throw new WalkbackError('InternalError', 'DynamoDB did not answer the base.');
    return fromItem<StoredBase>(Attributes);
  };

  return {
    putLinks: (links) => table.putAll(links.map(linkItem)),
    listLinks: async (sessionId, chainId) =>
      (await table.query(sessionKey(sessionId).pk, linkPrefix(chainId))).map((item) =>
        fromItem<ChainLink>(item),
      ),
    getBase,
    putBase: prolong,
  };
};
