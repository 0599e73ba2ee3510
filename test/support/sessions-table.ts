/** The Sessions table in a real DynamoDB engine, for one test file. */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect } from 'vitest';
import { createSessionStore } from '../../adapters/aws/session-store.ts';
import type { Session } from '../../core/checkpoint/model.ts';
import { startDynamoDb } from '../../local/dynamodb/server.ts';
import { checkpointOf, sessionOf } from './session-items.ts';

const TABLE = 'sessions';
const credentials = { accessKeyId: 'any', secretAccessKey: 'any' };

const text = (AttributeName: string) => ({ AttributeName, AttributeType: 'S' as const });
const index = (IndexName: string, AttributeName: string) => ({
  IndexName,
  KeySchema: [{ AttributeName, KeyType: 'HASH' as const }],
  Projection: { ProjectionType: 'KEYS_ONLY' as const },
});

/** The store over whatever answers there, and the client below it. */
export const sessionStoreAt = (endpoint: string) => {
  const dynamodb = new DynamoDBClient({ endpoint, region: 'us-east-1', credentials, maxAttempts: 1 });
  return { dynamodb, store: createSessionStore({ tableName: TABLE, client: dynamodb }) };
};

const openSessionsTable = async () => {
  await using opening = new AsyncDisposableStack();
  const directory = opening.use(await mkdtempDisposable(join(tmpdir(), 'walkback-store-')));
  const server = await startDynamoDb({ dataDir: directory.path, credentials });
  opening.defer(() => server.close());
  const { dynamodb, store } = sessionStoreAt(server.url);
  opening.defer(() => dynamodb.destroy());
  await dynamodb.send(
    new CreateTableCommand({
      TableName: TABLE,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [text('pk'), text('sk'), text('checkpointId'), text('messageId')],
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      GlobalSecondaryIndexes: [index('gsi_checkpoint', 'checkpointId'), index('gsi_message', 'messageId')],
    }),
  );
  const disposal = opening.move();
  return {
    tableName: TABLE,
    dynamodb,
    store,
    /** A stored session with its baseline. */
    begin: async (sessionId: string): Promise<Session> => {
      const session = sessionOf(sessionId);
      expect(await store.createSession(session, checkpointOf(sessionId, 1))).toEqual({ written: true });
      return session;
    },
    close: () => disposal.disposeAsync(),
  };
};

type SessionsTable = Awaited<ReturnType<typeof openSessionsTable>>;

/** An empty table, there while the tests of this file or block run. */
export const useSessionsTable = (): Omit<SessionsTable, 'close'> => {
  let opened: SessionsTable | undefined;
  const table = (): SessionsTable => {
    if (opened === undefined) throw new Error('the table is not there yet');
    return opened;
  };
  beforeAll(async () => {
    opened = await openSessionsTable();
  });
  afterAll(() => opened?.close());
  return {
    tableName: TABLE,
    get dynamodb() {
      return table().dynamodb;
    },
    get store() {
      return table().store;
    },
    begin: (sessionId) => table().begin(sessionId),
  };
};
