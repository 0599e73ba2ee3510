import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { CLIENT_DEFAULTS } from './client-defaults.ts';

/** Items as plain objects, without what is undefined. */
export const documentClient = (client?: DynamoDBClient): DynamoDBDocumentClient =>
  DynamoDBDocumentClient.from(client ?? new DynamoDBClient(CLIENT_DEFAULTS), {
    marshallOptions: { removeUndefinedValues: true },
    // A number that is too large for JavaScript was not written by us: to be seen and named, not to fail the reading.
    unmarshallOptions: { wrapNumbers: (text) => Number(text) },
  });
