/** Everything that happens to tables by itself: streams feed functions, and expired items are deleted. */
import { DescribeTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { WalkbackError } from '../../core/shared/errors.ts';
import type { Log } from '../../core/shared/surroundings.ts';
import type { LocalFunctions } from '../lambda/functions.ts';
import type { CloudPlan, StreamPlan } from '../plan.ts';
import { REGION } from '../resolve.ts';
import type { Changes } from './changes.ts';
import { deleteExpired } from './expiry.ts';
import { type StreamPump, startPump } from './pump.ts';

/** The service takes up to two days, which is too long here. */
const EXPIRY_INTERVAL_MS = 60_000;

export interface Background {
  /** Resolves when every change made so far has been delivered. */
  drained(): Promise<void>;
  /** Deletes what has expired by `now`. Answers how many items. */
  expireItems(now?: Date): Promise<number>;
  close(): Promise<void>;
}

export interface BackgroundParts {
  dataDir: string;
  plan: CloudPlan;
  functions: LocalFunctions;
  dynamodb: DynamoDBClient;
  endpoint: string;
  credentials: { accessKeyId: string; secretAccessKey: string };
  changes: Changes;
  log: Log;
}

const startStream = async (
  plan: StreamPlan,
  streams: DynamoDBStreamsClient,
  parts: BackgroundParts,
): Promise<StreamPump> => {
  const fn = parts.functions.find(plan.functionName);
  const { Table } = await parts.dynamodb.send(new DescribeTableCommand({ TableName: plan.tableName }));
  const streamArn = Table?.LatestStreamArn;
  if (fn === undefined || streamArn === undefined) {
    throw new WalkbackError(
      'ConfigurationError',
      `the template feeds ${plan.tableName} to ${plan.functionName}, but there is no such stream or function`,
    );
  }
  const table = parts.plan.tables.find((one) => one.name === plan.tableName);
  return startPump({
    plan,
    ttlAttribute: table?.TimeToLiveSpecification?.AttributeName,
    streamArn,
    streams,
    dataDir: parts.dataDir,
    changes: parts.changes,
    invoke: (event) => parts.functions.invoke(fn, event),
    log: parts.log,
  });
};

export const startBackground = async (parts: BackgroundParts): Promise<Background> => {
  const { plan, dynamodb, endpoint, credentials, log } = parts;
  const streams = new DynamoDBStreamsClient({ region: REGION, credentials, endpoint });
  const pumps = await Promise.all(plan.streams.map((stream) => startStream(stream, streams, parts)));

  const expireItems = async (now?: Date): Promise<number> => {
    const counts = await Promise.all(plan.tables.map((table) => deleteExpired(dynamodb, table, now)));
    return counts.reduce((sum, count) => sum + count, 0);
  };
  const timer = setInterval(() => {
    expireItems().catch((error: unknown) => log.warn('expired items stay', { error: String(error) }));
  }, EXPIRY_INTERVAL_MS);

  return {
    drained: async () => {
      await Promise.all(pumps.map((pump) => pump.drained()));
    },
    expireItems,
    close: async () => {
      clearInterval(timer);
      await Promise.all(pumps.map((pump) => pump.close()));
      streams.destroy();
    },
  };
};
