/** DynamoDB on loopback: a dynoxide process over one SQLite file, or an endpoint somebody else runs. */
import { mkdir, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { WalkbackError } from '../../core/shared/errors.ts';
import { plural } from '../../core/shared/plural.ts';
import type { Log } from '../../core/shared/surroundings.ts';
import { type Endpoint, listenApp, type ServiceAddress } from '../listen.ts';
import { isMissing, PRIVATE_DIRECTORY } from '../private-file.ts';
import type { AwsCredentials } from '../sigv4.ts';
import type { Changes } from '../streams/changes.ts';
import { type DynamoDbSource, findDynamoDb } from './binary.ts';
import { createGateway } from './gateway.ts';
import { startLastingEngine } from './lasting-engine.ts';
import { createOperations } from './operations.ts';
import { indexStreams } from './stream-index.ts';

export interface DynamoDbOptions {
  dataDir: string;
  credentials: AwsCredentials;
  place?: ServiceAddress;
  source?: DynamoDbSource | undefined;
  /** Told of every write, unless the endpoint is somebody else's. */
  changes?: Changes;
  log?: Log;
}

/** A Java process that has just started takes seconds for its first answer. */
const PROBE_TIMEOUT_MS = 20_000;
const DATABASE = 'tables.sqlite';

/**
 * SQLite cannot open a file whose path (with links resolved, and with the suffix of its journal) is longer
 * than 512 bytes.
 */
const MAX_FILE_BYTES = 504;

const directoryOf = (dataDir: string): string => join(dataDir, 'dynamodb');

/** The path with links resolved, even when only its first part exists. */
const realPathOf = async (path: string): Promise<string> => {
  try {
    return await realpath(path);
  } catch (error) {
    if (dirname(path) === path || !isMissing(error)) throw error;
    return join(await realPathOf(dirname(path)), basename(path));
  }
};

/** Throws when the path is too long. Creates nothing. */
export const requireShortPath = async (dataDir: string): Promise<void> => {
  const file = join(await realPathOf(directoryOf(dataDir)), DATABASE);
  const tooLong = Buffer.byteLength(file) - MAX_FILE_BYTES;
  if (tooLong <= 0) return;
  throw new WalkbackError(
    'ConfigurationError',
    `the path of the data directory is too long for the database, by ${plural(tooLong, 'byte')}; choose another with --data or WALKBACK_DATA`,
  );
};

const databaseFile = async (dataDir: string): Promise<string> => {
  const directory = directoryOf(dataDir);
  await mkdir(directory, { recursive: true, mode: PRIVATE_DIRECTORY });
  await requireShortPath(dataDir);
  return join(directory, DATABASE);
};

const startBehindGateway = async (path: string, options: DynamoDbOptions): Promise<Endpoint> => {
  const { credentials, dataDir, place, changes, log } = options;
  const file = await databaseFile(dataDir);
  await using starting = new AsyncDisposableStack();
  const engine = await startLastingEngine(path, file, (reason) =>
    log?.warn('the database ended, and the next call starts it again', { reason }),
  );
  starting.defer(() => engine.close());
  indexStreams(file);
  const operations = createOperations(engine, changes);
  const gateway = await listenApp(createGateway({ operations, credentials }), place);
  starting.defer(() => gateway.close());
  const running = starting.move();
  return { ...gateway, close: () => running.disposeAsync() };
};

const useEndpoint = async (url: string): Promise<Endpoint> => {
  const answer = await fetch(url, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) }).catch(() => undefined);
  if (answer === undefined) {
    throw new WalkbackError('ConfigurationError', `nothing answers at AWS_ENDPOINT_URL_DYNAMODB=${url}`);
  }
  await answer.body?.cancel();
  return { url, port: Number(new URL(url).port), close: async () => undefined };
};

/**
 * Starts DynamoDB and waits until it answers. Its data stays in `dataDir` across restarts. Requests must be
 * signed with `credentials`, unless the endpoint is somebody else's, which has its own rules.
 */
export const startDynamoDb = (options: DynamoDbOptions): Promise<Endpoint> => {
  const source = options.source ?? findDynamoDb(process.env);
  return source.kind === 'binary' ? startBehindGateway(source.path, options) : useEndpoint(source.url);
};
