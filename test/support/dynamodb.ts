/** A DynamoDB engine with a directory of its own, a client for it, and a table in it. */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { startDynamoDb } from '../../local/dynamodb/server.ts';

export const credentials = { accessKeyId: 'LKIATEST', secretAccessKey: 'not a secret' };
export const scratch = () => mkdtempDisposable(join(tmpdir(), 'walkback-dynamodb-'));

export const clientFor = (url: string, keys = credentials): DynamoDBClient =>
  new DynamoDBClient({
    endpoint: url,
    region: 'us-east-1',
    credentials: keys,
    maxAttempts: 1,
  });

export const text = (AttributeName: string) => ({ AttributeName, AttributeType: 'S' as const });
export const createTable = (dynamodb: DynamoDBClient) =>
  dynamodb.send(
    new CreateTableCommand({
      TableName: 'sessions',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [text('pk'), text('sk'), text('messageId')],
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'gsi_message',
          KeySchema: [
            { AttributeName: 'messageId', KeyType: 'HASH' },
            { AttributeName: 'sk', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'KEYS_ONLY' },
        },
      ],
    }),
  );

/** The engine with a table, and how to end it. */
export const openDynamoDb = async (make: (dynamodb: DynamoDBClient) => Promise<unknown> = createTable) => {
  await using opening = new AsyncDisposableStack();
  const directory = opening.use(await scratch());
  const server = await startDynamoDb({ dataDir: directory.path, credentials });
  opening.defer(() => server.close());
  const dynamodb = clientFor(server.url);
  opening.defer(() => dynamodb.destroy());
  await make(dynamodb);
  const disposal = opening.move();
  return { url: server.url, dynamodb, close: () => disposal.disposeAsync() };
};
