/** The hand of somebody with rights in the account: reads and writes items of sagas past the functions. */
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  type AttributeValue,
  DeleteItemCommand,
  DynamoDBClient,
  PutItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { createCommandInvoke } from '../../cli/target/invoke.ts';
import { openNamed } from '../../client/connect.ts';
import type { ExportLedgerInput } from '../../contract/ledger-export.ts';
import type { CloseSagaInput, OperateSagaInput, SubmitStepInput } from '../../contract/saga-inputs.ts';
import type { Cloud } from '../../local/cloud.ts';
import { runCommand } from './recording-app.ts';
import { type SagaCloud, startSagaCloud } from './saga-cloud.ts';

export type Attributes = Record<string, AttributeValue>;
export interface StoredItem {
  table: string;
  item: Attributes;
}

const itemKey = ({ table, item }: StoredItem): string => `${table} ${item['pk']?.S} ${item['sk']?.S}`;

export const openTables = ({ environment, endpoints }: Pick<Cloud, 'environment' | 'endpoints'>) => {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId = '',
    AWS_SECRET_ACCESS_KEY: secretAccessKey = '',
    WALKBACK_SAGAS_TABLE: sagas = '',
    WALKBACK_LEDGER_TABLE: ledger = '',
  } = environment;
  const credentials = { accessKeyId, secretAccessKey };
  const client = new DynamoDBClient({ region: 'us-east-1', endpoint: endpoints.dynamodb, credentials });

  const partition = async (table: string, pk: string): Promise<StoredItem[]> => {
    const command = new QueryCommand({
      TableName: table,
      ConsistentRead: true,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': { S: pk } },
    });
    return ((await client.send(command)).Items ?? []).map((item) => ({ table, item }));
  };
  const put = async ({ table, item }: StoredItem): Promise<void> => {
    await client.send(new PutItemCommand({ TableName: table, Item: item }));
  };
  const remove = async ({ table, item: { pk, sk } }: StoredItem): Promise<void> => {
    if (pk === undefined || sk === undefined) throw new Error('an item without a key');
    await client.send(new DeleteItemCommand({ TableName: table, Key: { pk, sk } }));
  };
  /** Everything that is stored of a saga. */
  const of = async (sagaId: string): Promise<StoredItem[]> => [
    ...(await partition(sagas, `SAGA#${sagaId}`)),
    ...(await partition(ledger, `SAGA#${sagaId}`)),
  ];
  return {
    client,
    sagas,
    ledger,
    of,
    put,
    remove,
    /** What was there before, and nothing else. */
    restore: async (sagaId: string, before: readonly StoredItem[]): Promise<void> => {
      const left = new Map((await of(sagaId)).map((stored) => [itemKey(stored), stored]));
      for (const stored of before) {
        const now = left.get(itemKey(stored));
        left.delete(itemKey(stored));
        if (!isDeepStrictEqual(now, stored)) await put(stored);
      }
      for (const stored of left.values()) await remove(stored);
    },
    close: () => client.destroy(),
  };
};

/** What somebody does who may bypass the lock: an object is gone from the embedded S3's disk. */
export const deleteLocked = async (
  { dataDir }: Pick<Cloud, 'dataDir'>,
  bucket: string,
  key: string,
): Promise<void> => {
  const name = createHash('sha256').update(key).digest('hex');
  await rm(join(dataDir, 's3', 'buckets', bucket, name.slice(0, 2), name));
};

export const s3Of = ({ environment, endpoints }: Pick<Cloud, 'environment' | 'endpoints'>): S3Client => {
  const { AWS_ACCESS_KEY_ID: accessKeyId = '', AWS_SECRET_ACCESS_KEY: secretAccessKey = '' } = environment;
  const credentials = { accessKeyId, secretAccessKey };
  return new S3Client({ region: 'us-east-1', endpoint: endpoints.s3, credentials, forcePathStyle: true });
};

/** The real command, in this process, over the functions of a running cloud. */
export const commandOn = (
  cloud: Pick<Cloud, 'environment' | 'endpoints'>,
  { now = () => new Date() }: { now?: () => Date } = {},
) => {
  const opened = openNamed(cloud.environment);
  if (opened === undefined) throw new Error('the cloud says not where it is');
  const invoke = createCommandInvoke({
    connection: async () => opened,
    reconnect: () => undefined,
    signal: undefined,
  });
  const answers = {
    'walkback-query-ledger': (input: object) => invoke('walkback-query-ledger', input),
    'walkback-anchor-ledger': () => invoke('walkback-anchor-ledger', {}),
    'walkback-export-ledger': (input: ExportLedgerInput) => invoke('walkback-export-ledger', input),
    'walkback-list-locks': (input: object) => invoke('walkback-list-locks', input),
    'walkback-operate-saga': (input: OperateSagaInput) => invoke('walkback-operate-saga', input),
    'walkback-start-saga': (input: { requestedBy: string }) => invoke('walkback-start-saga', input),
    'walkback-submit-step': (input: SubmitStepInput) => invoke('walkback-submit-step', input),
    'walkback-close-saga': (input: CloseSagaInput) => invoke('walkback-close-saga', input),
    'walkback-describe-saga': (input: { sagaId: string }) => invoke('walkback-describe-saga', input),
    'walkback-list-sagas': (input: object) => invoke('walkback-list-sagas', input),
  };
  return { run: (argv: string[]) => runCommand(argv, { answers, now }), close: () => opened.close() };
};

/**
 * A cloud with sagas that `play` brings to their end. What is stored of them is as it was again after each test.
 * Whoever asks for `it` does so inside a test.
 */
export const tamperedSagas = (
  sagaIds: readonly string[],
  play: (sagas: SagaCloud) => Promise<void>,
  timeoutMs = 240_000,
) => {
  const it = {} as {
    sagas: SagaCloud;
    tables: ReturnType<typeof openTables>;
    command: ReturnType<typeof commandOn>;
  };
  const stored = new Map<string, StoredItem[]>();

  beforeAll(async () => {
    it.sagas = await startSagaCloud();
    it.tables = openTables(it.sagas.cloud);
    it.command = commandOn(it.sagas.cloud);
    await play(it.sagas);
    for (const sagaId of sagaIds) await it.sagas.executionsEnded(sagaId);
    await it.sagas.cloud.settled();
    for (const sagaId of sagaIds) stored.set(sagaId, await it.tables.of(sagaId));
  }, timeoutMs);
  afterEach(async () => {
    for (const [sagaId, items] of stored) await it.tables.restore(sagaId, items);
  });
  afterAll(async () => {
    it.command.close();
    it.tables.close();
    await it.sagas.close();
  });

  const itemsOf = (sagaId: string): StoredItem[] => structuredClone(stored.get(sagaId) ?? []);
  const find = (sagaId: string, sk: string): StoredItem => {
    const found = itemsOf(sagaId).find(({ item }) => item['sk']?.S?.startsWith(sk));
    if (found === undefined) throw new Error(`nothing at ${sk}`);
    return found;
  };
  return {
    it,
    itemsOf,
    find,
    change: async (sagaId: string, sk: string, edit: (item: Attributes) => void): Promise<void> => {
      const found = find(sagaId, sk);
      edit(found.item);
      await it.tables.put(found);
    },
    /** What `ledger verify` says of a saga, or of the tree below it: what is wrong, if anything is. */
    verify: async (sagaId: string): Promise<string> => {
      const { failure, stdout } = await it.command.run(['ledger', 'verify', sagaId]);
      if (failure === undefined) return stdout;
      expect(failure).toMatchObject({ name: 'LedgerBroken', exitCode: 1 });
      return failure.message;
    },
  };
};
