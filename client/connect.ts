/** Opens the connection to the functions: a client that was given, AWS, or the embedded cloud of this machine. */
import { LambdaClient, type LambdaClientConfig } from '@aws-sdk/client-lambda';
import { errors } from './errors.ts';
import { dataDirFor, type Environment, mayStartDaemon, targetOf } from './target.ts';

export interface ConnectOptions {
  /** AWS region. Default: from the environment. */
  region?: string;
  /** Endpoint of the Lambda service. Default: that of AWS, or of the embedded cloud. */
  endpoint?: string;
  credentials?: LambdaClientConfig['credentials'];
  /** A client of your own, for example with a proxy; it is not closed. */
  client?: LambdaClient;
  /** The data directory of an embedded cloud on this machine, as `walkback up --data` takes it. */
  dataDir?: string;
  /**
   * Starts the embedded cloud of this machine in the background when none runs, by the command of `@walkback/cli`. Default: true,
   * unless `WALKBACK_DAEMON` is `off`.
   */
  start?: boolean;
}

/** How the embedded cloud makes sandboxes over directories of this machine. */
export interface SandboxApi {
  url: string;
  apiKey: string;
}

export interface Connection {
  lambda: LambdaClient;
  /** Absent on AWS. */
  sandboxes?: SandboxApi;
  environment: Environment;
  /** Found in a data directory, so another cloud may be there later. */
  isFound?: true;
  /** The data directory in which it was found. */
  dataDir?: string;
  close(): void;
}

/** Connecting may take long behind a proxy. Waiting for the answer is limited by each call's own patience. */
const HANDLER = { connectionTimeout: 5000 };

const open = (config: LambdaClientConfig, environment: Environment): Connection => {
  const lambda = new LambdaClient({ requestHandler: HANDLER, ...config });
  const { E2B_API_URL: url, E2B_API_KEY: apiKey } = environment;
  return {
    lambda,
    environment,
    close: () => lambda.destroy(),
    ...(url === undefined || apiKey === undefined ? {} : { sandboxes: { url, apiKey } }),
  };
};

/**
 * The embedded cloud that these variables point to, as `walkback env` prints them. Undefined when they name
 * none.
 */
export const openNamed = (environment: Environment): Connection | undefined => {
  const {
    AWS_ENDPOINT_URL_LAMBDA: endpoint,
    AWS_ACCESS_KEY_ID: accessKeyId = '',
    AWS_SECRET_ACCESS_KEY: secretAccessKey = '',
  } = environment;
  if (endpoint === undefined) return undefined;
  const credentials = { accessKeyId, secretAccessKey };
  const region = environment['AWS_REGION'] ?? 'us-east-1';
  return { ...open({ endpoint, credentials, region }, environment), isFound: true };
};

const openLocal = async (
  dataDir: string,
  { start, env, cwd }: { start: boolean | undefined; env: Environment; cwd: string },
): Promise<Connection> => {
  // Loaded only when needed: on AWS it is not.
  const { findRunningCloud } = await import('../local/data-dir.ts');
  const find = async (): Promise<Connection | undefined> => {
    const named = openNamed((await findRunningCloud(dataDir))?.environment ?? {});
    return named === undefined ? undefined : { ...named, dataDir };
  };
  const mayStart = start ?? mayStartDaemon(env);
  const running = await find();
  if (running !== undefined) return running;
  const none = `No embedded cloud runs over ${dataDir}`;
  if (mayStart) {
    const { startDaemon } = await import('./start-daemon.ts');
    await startDaemon(dataDir, { env, cwd, none });
    const started = await find();
    if (started !== undefined) return started;
  }
  throw new errors.CloudUnavailable(
    `${none}. Start it with walkback up, or name another data directory with dataDir or WALKBACK_DATA.`,
  );
};

/** The deployed functions that the usual AWS environment points to. */
export const openAws = (): Connection => open({}, {});

/**
 * Chooses by the options first, then by the same rules as the command. Throws `CloudUnavailable` when nothing
 * runs on this machine.
 */
export const connect = async (
  options: ConnectOptions,
  env: Environment,
  cwd: string,
): Promise<Connection> => {
  const { client, dataDir, region, endpoint, credentials, start } = options;
  const local = { start, env, cwd };
  if (client !== undefined) return { lambda: client, environment: env, close: () => undefined };
  if (dataDir !== undefined) return openLocal(dataDirFor(dataDir, env, cwd), local);
  const config = {
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials === undefined ? {} : { credentials }),
  };
  if (Object.keys(config).length > 0) return open(config, env);
  const target = targetOf(env, cwd);
  switch (target.kind) {
    case 'local':
      return openLocal(target.dataDir, local);
    case 'environment':
      return open({ endpoint: target.endpoint, region: env['AWS_REGION'] ?? 'us-east-1' }, env);
    case 'aws':
      return openAws();
  }
};
