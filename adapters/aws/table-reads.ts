/** Reads of one item and of one partition, the same for every table: strongly consistent, with our errors. */
import {
  type DynamoDBDocumentClient,
  GetCommand,
  paginateQuery,
  type QueryCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { calling, toWalkbackError } from './errors.ts';

const SERVICE = 'DynamoDB';

/** The key of every item of every table. */
export interface Key {
  pk: string;
  sk: string;
}

/** An item to be written. */
export type Item = Key & Record<string, unknown>;

/** An item as it was read. Its reader checks its shape. */
export type Stored = Record<string, unknown>;

export const getItem = async (
  client: DynamoDBDocumentClient,
  tableName: string,
  key: Key,
): Promise<Stored | undefined> => {
  const command = new GetCommand({ TableName: tableName, Key: key, ConsistentRead: true });
  return (await calling(SERVICE, () => client.send(command))).Item;
};

/** Page by page, as long as somebody asks for the next. */
export async function* queryPages(
  client: DynamoDBDocumentClient,
  input: QueryCommandInput,
): AsyncGenerator<Stored[]> {
  try {
    for await (const page of paginateQuery({ client }, { ...input, ConsistentRead: true }))
      yield page.Items ?? [];
  } catch (error) {
    throw toWalkbackError(SERVICE, error);
  }
}
