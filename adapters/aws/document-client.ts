import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { CLIENT_DEFAULTS } from './client-defaults.ts';

/** Items as plain objects, without what is undefined. */
export const documentClient = (client?: DynamoDBClient): DynamoDBDocumentClient =>
  DynamoDBDocumentClient.from(client ?? new DynamoDBClient(CLIENT_DEFAULTS), {
    marshallOptions: { removeUndefinedValues: true },
    // We never write a number that is too large for JavaScript. Reading must show it as a finding, not fail
    // on it.
    unmarshallOptions: { wrapNumbers: (text) => Number(text) },
  });
