/** The Sagas and Ledger tables of the template, in an engine of their own. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { startDynamoDb } from '../../local/dynamodb/server.ts';
import { planCloud } from '../../local/plan.ts';
import { provision } from '../../local/provision.ts';
import { loadTemplate } from '../../local/template.ts';

export const SAGA_TABLES_CREDENTIALS = { accessKeyId: 'test', secretAccessKey: 'test' };

export const openSagaTables = async () => {
  const disposal = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), 'walkback-store-'));
  disposal.defer(() => rm(dataDir, { recursive: true, force: true }));
  const server = disposal.adopt(
    await startDynamoDb({ dataDir, credentials: SAGA_TABLES_CREDENTIALS }),
    (one) => one.close(),
  );
  const client = new DynamoDBClient({
    region: 'us-east-1',
    endpoint: server.url,
    credentials: SAGA_TABLES_CREDENTIALS,
  });
  const plan = planCloud(await loadTemplate());
  const s3 = new S3Client({ region: 'us-east-1', credentials: SAGA_TABLES_CREDENTIALS });
  await provision({ ...plan, buckets: [] }, { dynamodb: client, s3 });
  const named = (part: string) => plan.tables.find(({ name }) => name.includes(part))?.name ?? '';
  return {
    url: server.url,
    tables: { sagasTable: named('tablessagas'), ledgerTable: named('tablesledger'), client },
    sessionsTable: named('tablessessions'),
    close: () => disposal.disposeAsync(),
  };
};
