/**
 * The embedded cloud: every service that the functions use, on loopback, provisioned from the synthesised
 * template. While it runs it owns its data directory, the services, and the environment of this process,
 * because functions run in this process. It leaves only the data behind.
 */
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { isWalkbackError, WalkbackError } from '../core/shared/errors.ts';
import type { Log } from '../core/shared/surroundings.ts';
import manifest from '../package.json' with { type: 'json' };
import { createActivity } from './activity.ts';
import { type CloudCredentials, loadCredentials } from './credentials.ts';
import { lockDataDir } from './data-dir.ts';
import type { DynamoDbSource } from './dynamodb/binary.ts';
import { beginTables, endTables } from './dynamodb/half-made.ts';
import { type JournalRecord, openJournal } from './events/journal.ts';
import { checkNotifyUrl, mayBeSent, type NotifyOptions, startNotify } from './events/notify.ts';
import { createTopics } from './events/topics.ts';
import { loginSecret } from './identity/issuer.ts';
import { LOCAL_AUDIENCE, LOCAL_GROUP_PREFIX, LOCAL_ISSUER, LOCAL_SCOPE } from './identity/mint.ts';
import { installEnvironment } from './lambda/environment.ts';
import { createFunctions, type LocalFunctions } from './lambda/functions.ts';
import type { SharedPath } from './listen.ts';
import { type CloudPlan, type FunctionPlan, mergeEnvironments, planCloud } from './plan.ts';
import { provision } from './provision.ts';
import { REGION } from './resolve.ts';
import { type Endpoints, startServices } from './services.ts';
import { startSchedules } from './stepfunctions/schedules.ts';
import { createChanges } from './streams/changes.ts';
import { startBackground } from './streams/start.ts';
import { loadTemplate, type Template } from './template.ts';

/** How long `close` waits for invocations that are under way. */
const GRACE_MS = 5_000;

export interface CloudOptions {
  /** Everything the cloud keeps; made if missing. One running cloud per directory. */
  dataDir: string;
  /**
   * The port of the services for programs. Sign-in has the next one, and the API with the console the one after
   * that. Absent: any free ports.
   */
  port?: number;
  log?: Log;
  /** False: other processes see that the directory is taken, but not where the cloud answers. */
  announce?: boolean;
  /** Directories or modules whose functions are served too, so that sagas can call them. */
  functions?: readonly string[];
  /** Where to send notices of waiting approvals and failed compensations. */
  notify?: NotifyOptions;
  /** Where DynamoDB comes from. Absent: the installed one, or an endpoint named by the environment. */
  dynamodb?: DynamoDbSource;
  /** A template other than that of this checkout: that of the release before or after it. */
  template?: Template;
}

export interface Cloud {
  dataDir: string;
  endpoints: Endpoints;
  /**
   * Environment variables with which any SDK reaches it, and the names of table, bucket and bus. They include
   * its keys.
   */
  environment: Readonly<Record<string, string>>;
  /** The names of the other functions that are served. */
  ownFunctions: readonly string[];
  /** What was published to buses and topics, oldest first. */
  events(): readonly JournalRecord[];
  /** Resolves when no function runs and every change of a table has reached its stream's function. */
  settled(): Promise<void>;
  /**
   * Deletes items whose time to live has ended by `now`, and answers how many. This also happens by itself
   * every minute.
   */
  expireItems(now?: Date): Promise<number>;
  /** A path beside those of the services, for what the program of the cloud serves itself. */
  at(path: string): SharedPath;
  /** Changes the functions' environment and starts them afresh, like an update of their configuration. */
  reconfigure(variables: Record<string, string>): void;
  /**
   * How long nobody has called a function or worked in a sandbox. 0 while somebody does, and while a saga's
   * execution runs or waits.
   */
  idleForMs(): number;
  /** False when somebody deleted the data directory, or another cloud works in the one that was made again. */
  ownsDataDir(): Promise<boolean>;
  /** Stops others from finding it here; `announce` lets them find it again. */
  conceal(): Promise<void>;
  announce(): Promise<void>;
  /**
   * Stops everything and leaves no process. A function of the user's that is at work gets time to end, unless
   * it blocks.
   */
  close(): Promise<void>;
  /**
   * After `close`: a function of the user's waits for another process, and ends only together with this
   * process.
   */
  isStuck(): boolean;
  [Symbol.asyncDispose](): Promise<void>;
}

const SILENT: Log = { info: () => undefined, warn: () => undefined };

const describeEnvironment = (
  endpoints: Endpoints,
  credentials: CloudCredentials,
  plan: CloudPlan,
): Record<string, string> => ({
  AWS_REGION: REGION,
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamodb,
  AWS_ENDPOINT_URL_S3: endpoints.s3,
  AWS_ENDPOINT_URL_LAMBDA: endpoints.lambda,
  AWS_ENDPOINT_URL_EVENTBRIDGE: endpoints.events,
  AWS_ENDPOINT_URL_SNS: endpoints.events,
  AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoints.secrets,
  AWS_ENDPOINT_URL_SFN: endpoints.stepfunctions,
  AWS_ENDPOINT_URL_KMS: endpoints.kms,
  E2B_API_URL: endpoints.e2b,
  E2B_SANDBOX_URL: endpoints.e2b,
  SANDBOX_ON_THIS_MACHINE: '1',
  E2B_API_KEY: credentials.e2bApiKey,
  ...mergeEnvironments(plan.functions),
  // The template's values are those of an issuer that does not exist.
  WALKBACK_OIDC_ISSUER: LOCAL_ISSUER,
  WALKBACK_OIDC_CONFIGURATION: `${endpoints.identity}/.well-known/openid-configuration`,
  WALKBACK_OIDC_AUDIENCE: LOCAL_AUDIENCE,
  WALKBACK_OIDC_SCOPE: LOCAL_SCOPE,
  WALKBACK_OIDC_GROUP_PREFIX: LOCAL_GROUP_PREFIX,
  // Links in notices lead to the console behind the gateway.
  WALKBACK_CONSOLE_URL: endpoints.api,
  WALKBACK_LOGIN_SECRET: loginSecret(credentials.secretAccessKey),
});

const clientsFor = (endpoints: Endpoints, credentials: CloudCredentials) => {
  const shared = { region: REGION, credentials };
  return {
    dynamodb: new DynamoDBClient({ ...shared, endpoint: endpoints.dynamodb }),
    s3: new S3Client({ ...shared, endpoint: endpoints.s3, forcePathStyle: true }),
  };
};

/** Errors about these functions are marked as such in their details. */
const addAll = async (
  functions: LocalFunctions,
  sources: readonly string[] = [],
): Promise<FunctionPlan[]> => {
  const own: FunctionPlan[] = [];
  for (const source of sources) {
    try {
      own.push(...(await functions.add(source)));
    } catch (error) {
      if (!isWalkbackError(error)) throw error;
      throw new WalkbackError(error.name, error.message, { cause: error, details: { functions: source } });
    }
  }
  return own;
};

/**
 * Starts the cloud and waits until every service answers. Throws `ConfigurationError` when something is in
 * the way: a taken port, another cloud in the directory, no DynamoDB, a table of another shape. Then nothing
 * is left running.
 */
export const startCloud = async (options: CloudOptions): Promise<Cloud> => {
  const { log = SILENT, announce = true, port } = options;
  const dataDir = resolve(options.dataDir);
  if (options.notify !== undefined) checkNotifyUrl(options.notify.url);
  await using starting = new AsyncDisposableStack();

  const lock = await lockDataDir(dataDir, manifest.version);
  starting.defer(() => lock.release());
  const [template, credentials, journal] = await Promise.all([
    options.template ?? loadTemplate(),
    loadCredentials(dataDir),
    openJournal(dataDir, options.notify === undefined ? undefined : mayBeSent),
  ]);
  const plan = planCloud(template);
  const functions = createFunctions(plan.functions);
  const activity = createActivity();
  const changes = createChanges();

  const { dynamodb } = options;
  await beginTables(dataDir);
  const services = await startServices({
    dataDir,
    port,
    plan,
    credentials,
    functions,
    journal,
    topics: createTopics(plan.topics),
    dynamodb,
    activity,
    changes,
    log,
  });
  starting.defer(() => services.close());
  const { endpoints } = services;
  const environment = describeEnvironment(endpoints, credentials, plan);

  const clients = clientsFor(endpoints, credentials);
  starting.defer(() => {
    clients.dynamodb.destroy();
    clients.s3.destroy();
  });
  await provision(plan, clients);
  await endTables(dataDir);

  const { E2B_API_KEY: _key, WALKBACK_LOGIN_SECRET: _secret, ...forFunctions } = environment;
  const installed = installEnvironment(forFunctions);
  starting.defer(() => installed.remove());
  starting.defer(() => functions.close());
  const own = await addAll(functions, options.functions);
  const background = await startBackground({
    dataDir,
    plan,
    functions,
    dynamodb: clients.dynamodb,
    endpoint: endpoints.dynamodb,
    credentials,
    changes,
    log,
  });
  starting.defer(() => background.close());
  starting.defer(() => Promise.race([functions.drain(), delay(GRACE_MS, undefined, { ref: false })]));
  if (options.notify !== undefined) {
    const notifier = await startNotify({ options: options.notify, journal, dataDir, log });
    starting.defer(() => notifier.close());
  }
  const schedules = startSchedules({ plan, functions, log });
  starting.defer(() => schedules.close());
  const ownFunctions = own.map(({ name }) => name);
  const tell = () => lock.publish({ endpoints, environment, functions: ownFunctions });
  if (announce) await tell();
  log.info('cloud started', { dataDir, endpoints });

  const running = starting.move();
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= running.disposeAsync());
  return {
    dataDir,
    endpoints,
    environment,
    ownFunctions,
    events: () => journal.list(),
    settled: async () => {
      await functions.idle();
      await background.drained();
      await functions.idle();
    },
    expireItems: (now) => background.expireItems(now),
    reconfigure: (variables) => {
      installed.set(variables);
      functions.coldStart();
    },
    at: (path) => services.at(path),
    idleForMs: () => activity.idleForMs(),
    ownsDataDir: () => lock.isHeld(),
    conceal: () => lock.publish({ endpoints: {}, environment: {} }),
    announce: tell,
    isStuck: () => functions.isStuck(),
    close,
    [Symbol.asyncDispose]: close,
  };
};
