/** The Sessions table in a real DynamoDB engine, for one test file. */
import { CreateTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect } from 'vitest';
import { createSessionStore } from '../../adapters/aws/sessions/session-store.ts';
import type { Session } from '../../core/checkpoint/model.ts';
import { clientFor, openDynamoDb, text } from './dynamodb.ts';
import { createFakeStore } from './fakes/fake-store.ts';
import { checkpointOf, sessionOf } from './session-items.ts';

const TABLE = 'sessions';

const index = (
  IndexName: string,
  AttributeName: string,
  range?: string,
  ProjectionType: 'ALL' | 'KEYS_ONLY' = 'KEYS_ONLY',
) => ({
  IndexName,
  KeySchema: [
    { AttributeName, KeyType: 'HASH' as const },
    ...(range === undefined ? [] : [{ AttributeName: range, KeyType: 'RANGE' as const }]),
  ],
  Projection: { ProjectionType },
});

const ATTRIBUTES = [
  'pk',
  'sk',
  'checkpointId',
  'messageId',
  'createdAt',
  'requestHash',
  'wordsPart',
  'updatedAt',
];

const createSessionsTable = (dynamodb: DynamoDBClient) =>
  dynamodb.send(
    new CreateTableCommand({
      TableName: TABLE,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: ATTRIBUTES.map(text),
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      GlobalSecondaryIndexes: [
        index('gsi_checkpoint', 'checkpointId'),
        index('gsi_message', 'messageId'),
        index('gsi_session', 'createdAt', 'requestHash'),
        index('gsi_words', 'wordsPart', 'updatedAt', 'ALL'),
      ],
    }),
  );

const storeOver = (client: DynamoDBClient) => createSessionStore({ tableName: TABLE, client });

/** The store over whatever answers there. */
export const sessionStoreAt = (endpoint: string) => storeOver(clientFor(endpoint));

const openSessionsTable = async () => {
  const { url, dynamodb, close } = await openDynamoDb(createSessionsTable);
  const store = storeOver(dynamodb);
  return {
    tableName: TABLE,
    url,
    dynamodb,
    store,
    /** A stored session with its baseline. */
    begin: async (sessionId: string): Promise<Session> => {
      const session = sessionOf(sessionId);
      expect(await store.createSession(session, checkpointOf(sessionId, 1))).toEqual({ written: true });
      return session;
    },
    close,
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
    get url() {
      return table().url;
    },
    get dynamodb() {
      return table().dynamodb;
    },
    get store() {
      return table().store;
    },
    begin: (sessionId) => table().begin(sessionId),
  };
};

/** The table in memory that unit tests use, as far as the tests of the real one ask: both keep the same promises. */
const useFakeSessions = (): Pick<SessionsTable, 'store' | 'begin'> => {
  const store = createFakeStore();
  return {
    store,
    begin: async (sessionId) => {
      const session = sessionOf(sessionId);
      expect(await store.createSession(session, checkpointOf(sessionId, 1))).toEqual({ written: true });
      return session;
    },
  };
};

/** For `describe.each`: what promises hold for both. */
export const SESSION_STORES: readonly [string, () => Pick<SessionsTable, 'store' | 'begin'>][] = [
  ['a real DynamoDB engine', useSessionsTable],
  ['the memory of unit tests', useFakeSessions],
];
