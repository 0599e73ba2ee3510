/** DynamoDB on loopback: a dynoxide process over one SQLite file, or an endpoint somebody else runs. */
import { randomInt } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { WalkbackError } from '../../core/shared/errors.ts';
import { type SupervisedChild, superviseChild } from '../child.ts';
import { claimPort, type Endpoint, HOST } from '../listen.ts';
import type { AwsCredentials } from '../sigv4.ts';
import { type DynamoDbSource, findDynamoDb } from './binary.ts';
import { startGateway } from './gateway.ts';

export interface DynamoDbOptions {
  dataDir: string;
  credentials: AwsCredentials;
  port?: number;
  source?: DynamoDbSource;
}

const START_TIMEOUT_MS = 15_000;
const PROBE_INTERVAL_MS = 10;
/**
 * It refuses a port that is taken on any address, not only on its own, and between our claim and its start anybody
 * can take one.
 */
const PORT_ATTEMPTS = 10;
const PORT_TAKEN = /port \d+ is already in use/;

const answers = async (url: string): Promise<boolean> => {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(1_000) });
    await response.arrayBuffer();
    return true;
  } catch {
    return false;
  }
};

/** False when somebody else has its port. Any other end of the process before it answers is an error. */
const becameHealthy = async (url: string, child: SupervisedChild): Promise<boolean> => {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (child.isRunning() && Date.now() < deadline) {
    // The process must still be ours after the answer: somebody else may hold the port.
    if ((await answers(url)) && child.isRunning()) return true;
    await delay(PROBE_INTERVAL_MS);
  }
  const stuck = child.isRunning();
  await child.stop();
  const { code, output } = await child.ended;
  if (!stuck && PORT_TAKEN.test(output)) return false;
  const how = stuck ? `did not answer within ${START_TIMEOUT_MS / 1000} s` : `ended with ${code}`;
  throw new WalkbackError('ConfigurationError', `DynamoDB (dynoxide) ${how}: ${output.trim()}`);
};

/**
 * Where only we look for it. Linux answers on all of 127/8, so nobody finds it by trying ports; elsewhere there
 * is one loopback address.
 */
const hiddenHost = (): string =>
  process.platform === 'linux' ? `127.${[1, 2, 3].map(() => randomInt(1, 255)).join('.')}` : HOST;

const startBinary = async (path: string, dataDir: string): Promise<Endpoint> => {
  const directory = join(dataDir, 'dynamodb');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, 'tables.sqlite');
  const host = hiddenHost();
  for (let attempt = 0; attempt < PORT_ATTEMPTS; attempt++) {
    const port = await claimPort(0, host);
    const child = superviseChild(path, ['serve', '--host', host, '--port', `${port}`, '--db-path', file]);
    const url = `http://${host}:${port}`;
    if (await becameHealthy(url, child)) return { url, port, close: () => child.stop() };
  }
  throw new WalkbackError('ConfigurationError', `DynamoDB (dynoxide) found no free port on ${host}`);
};

const startBehindGateway = async (path: string, options: DynamoDbOptions): Promise<Endpoint> => {
  await using starting = new AsyncDisposableStack();
  const backend = await startBinary(path, options.dataDir);
  starting.defer(() => backend.close());
  const gateway = await startGateway({ ...options, backendUrl: backend.url });
  starting.defer(() => gateway.close());
  const running = starting.move();
  return { ...gateway, close: () => running.disposeAsync() };
};

const useEndpoint = async (url: string): Promise<Endpoint> => {
  if (!(await answers(url))) {
    throw new WalkbackError('ConfigurationError', `nothing answers at AWS_ENDPOINT_URL_DYNAMODB=${url}`);
  }
  return { url, port: Number(new URL(url).port), close: async () => undefined };
};

/**
 * Starts DynamoDB and waits until it answers. What it holds stays in `dataDir` across restarts. Requests must be
 * signed with `credentials`, unless it is somebody else's endpoint, which has its own rules.
 */
export const startDynamoDb = (options: DynamoDbOptions): Promise<Endpoint> => {
  const source = options.source ?? findDynamoDb(process.env);
  return source.kind === 'binary' ? startBehindGateway(source.path, options) : useEndpoint(source.url);
};
