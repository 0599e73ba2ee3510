/** The size of an item as DynamoDB counts it, and the heads of sagas, which stay within one write unit. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateTableCommand, DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { headItem } from '../../adapters/aws/sagas/saga-items.ts';
import { startDynamoDb } from '../../local/dynamodb/server.ts';
import { startCountingDynamoDb } from '../support/counting-dynamodb.ts';
import { itemBytes, WRITE_UNIT_BYTES } from '../support/item-size.ts';
import { finishedHead } from '../support/scripted-saga.ts';

const CREDENTIALS = { accessKeyId: 'test', secretAccessKey: 'test' };
const disposal = new AsyncDisposableStack();
let client: DynamoDBClient;

beforeAll(async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'walkback-size-'));
  disposal.defer(() => rm(dataDir, { recursive: true, force: true }));
  const counting = disposal.adopt(await startCountingDynamoDb(dataDir), (one) => one.close());
  const dynamodb = await startDynamoDb({ dataDir, credentials: CREDENTIALS, source: counting.source });
  disposal.defer(() => dynamodb.close());
  client = new DynamoDBClient({ region: 'us-east-1', endpoint: dynamodb.url, credentials: CREDENTIALS });
  disposal.defer(() => client.destroy());
  await client.send(
    new CreateTableCommand({
      TableName: 'sizes',
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'S' },
      ],
      BillingMode: 'PAY_PER_REQUEST',
    }),
  );
});
afterAll(() => disposal.disposeAsync());

/** Of an item that is new: a larger one that stood there before would count. */
const unitsOf = async (item: object): Promise<number | undefined> => {
  const Item = marshall(item, { removeUndefinedValues: true });
  const put = new PutItemCommand({ TableName: 'sizes', Item, ReturnConsumedCapacity: 'TOTAL' });
  return (await client.send(put)).ConsumedCapacity?.CapacityUnits;
};

test('an item takes a second write unit from the byte on that it is counted to pass the first', async () => {
  const one = {
    pk: crypto.randomUUID(),
    sk: 'HEAD',
    numbers: [0, -7, 1.5, 1_234_567, 120_000, -0.001],
    deep: { is: [true, null, 'ä'], none: {} },
    bytes: Buffer.from('bytes'),
    missing: undefined,
  };
  const room = WRITE_UNIT_BYTES - itemBytes({ ...one, fill: '' });
  for (const more of [-1, 0, 1, 2]) {
    const item = { ...one, pk: crypto.randomUUID(), fill: 'x'.repeat(room + more) };
    expect(itemBytes(item)).toBe(WRITE_UNIT_BYTES + more);
    expect(await unitsOf(item)).toBe(more > 0 ? 2 : 1);
  }
});

test('a head of a straight line takes one write unit, however long what it holds for people', async () => {
  const head = await finishedHead();
  for (let length = 1; length <= 400; length += 7) {
    const item = headItem({ ...head, sagaId: crypto.randomUUID(), requestedBy: 'x'.repeat(length) });
    expect(await unitsOf(item)).toBe(1);
  }
});
