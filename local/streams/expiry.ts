/** Deletes expired items, which dynoxide does not do by itself. The stream reports them like any other removal. */

import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  paginateScan,
} from '@aws-sdk/client-dynamodb';
import { DAY_SECONDS } from '../../contract/times.ts';
import type { TablePlan } from '../plan.ts';

/** Answers how many items were deleted. An item whose time was extended meanwhile stays. */
export const deleteExpired = async (
  dynamodb: DynamoDBClient,
  table: TablePlan,
  now: Date = new Date(),
): Promise<number> => {
  const ttl = table.TimeToLiveSpecification;
  if (ttl?.Enabled !== true) return 0;
  const condition = {
    ExpressionAttributeNames: { '#ttl': ttl.AttributeName },
    ExpressionAttributeValues: {
      ':now': { N: String(Math.floor(now.getTime() / 1000)) },
      // DynamoDB leaves items alone that expired more than five years ago.
      ':past': { N: String(Math.floor(now.getTime() / 1000) - 5 * 365 * DAY_SECONDS) },
    },
  };
  const expired = '#ttl BETWEEN :past AND :now';
  const keyNames = table.KeySchema.map((key) => key.AttributeName);
  let deleted = 0;
  const pages = paginateScan(
    { client: dynamodb },
    { TableName: table.name, FilterExpression: expired, ConsistentRead: true, ...condition },
  );
  for await (const page of pages) {
    for (const item of page.Items ?? []) {
      const Key = Object.fromEntries(Object.entries(item).filter(([name]) => keyNames.includes(name)));
      try {
        await dynamodb.send(
          new DeleteItemCommand({ TableName: table.name, Key, ConditionExpression: expired, ...condition }),
        );
        deleted += 1;
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
      }
    }
  }
  return deleted;
};
