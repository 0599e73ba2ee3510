/** The items that one checkpoint wrote into the Sessions table: its own, its links, and the session's. */
import { type AttributeValue, DynamoDBClient, paginateQuery } from '@aws-sdk/client-dynamodb';

type Item = Record<string, AttributeValue>;

const sortKey = (item: Item): string => item['sk']?.S ?? '';

/** Of the cloud with this environment. */
export const databaseOf = (environment: Readonly<Record<string, string>>): DynamoDBClient =>
  new DynamoDBClient({
    region: environment['AWS_REGION'],
    endpoint: environment['AWS_ENDPOINT_URL_DYNAMODB'],
    credentials: {
      accessKeyId: environment['AWS_ACCESS_KEY_ID'] ?? '',
      secretAccessKey: environment['AWS_SECRET_ACCESS_KEY'] ?? '',
    },
  });

const readSession = async (
  environment: Readonly<Record<string, string>>,
  sessionId: string,
): Promise<Item[]> => {
  const client = databaseOf(environment);
  const items: Item[] = [];
  const query = {
    TableName: environment['WALKBACK_SESSIONS_TABLE'],
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': { S: `SESSION#${sessionId}` } },
  };
  for await (const page of paginateQuery({ client }, query)) items.push(...(page.Items ?? []));
  client.destroy();
  return items;
};

/** Bytes of JSON per checkpoint, for each of the checkpoints named by sequence number. */
export const itemBytes = async (
  environment: Readonly<Record<string, string>>,
  sessionId: string,
  seqs: readonly number[],
): Promise<number[]> => {
  const items = await readSession(environment, sessionId);
  const sizeOf = (belongs: (item: Item) => boolean): number =>
    items.filter(belongs).reduce((total, item) => total + JSON.stringify(item).length, 0);
  return seqs.map((seq) => {
    const key = `CP#${String(seq).padStart(8, '0')}`;
    const checkpoint = items.find((item) => sortKey(item) === key);
    if (checkpoint === undefined) throw new Error(`The table holds no ${key}.`);
    const named = JSON.stringify(checkpoint);
    const isLink = (item: Item): boolean =>
      sortKey(item).startsWith('LINK#') && named.includes(sortKey(item).split('#').at(-1) ?? '');
    return sizeOf((item) => item === checkpoint || sortKey(item) === 'META' || isLink(item));
  });
};
