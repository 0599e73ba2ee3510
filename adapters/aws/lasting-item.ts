/**
 * Items whose content is written once. Storing one again only makes it live longer, so whoever stores it again
 * cannot replace what is there.
 */
import type { Item, Key } from './table-reads.ts';

/** An update of this kind, without a condition: `expiresAt` becomes what is given. */
export const lastingInput = (TableName: string, { pk, sk, expiresAt, ...fixed }: Item) => {
  const names = Object.keys(fixed).filter((name) => fixed[name] !== undefined);
  return {
    TableName,
    Key: { pk, sk },
    UpdateExpression: `SET ${names.map((name) => `#${name} = if_not_exists(#${name}, :${name})`).join(', ')}, expiresAt = :expiresAt`,
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: {
      ...Object.fromEntries(names.map((name) => [`:${name}`, fixed[name]])),
      ':expiresAt': expiresAt,
    },
  };
};

/** An item that is there lives until `expiresAt`. Refused when it is gone or lives longer. */
export const prolongInput = (TableName: string, key: Key, expiresAt: number) => ({
  TableName,
  Key: { ...key },
  UpdateExpression: 'SET expiresAt = :expiresAt',
  ConditionExpression: 'attribute_exists(pk) AND expiresAt <= :expiresAt',
  ExpressionAttributeValues: { ':expiresAt': expiresAt },
});
