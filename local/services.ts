/**
 * Starts every service of the cloud; all or none.
 *
 * The services for programs share one port, each below a path of its own: every SDK signs and keeps the path of
 * an endpoint, while names such as `s3.localhost` are not resolved everywhere. E2B is at the root, because its
 * SDK drops the path of an endpoint from the URLs of files. What a browser opens has a port, and so an origin,
 * of its own: neither what agents stored nor the page that takes a person's secret may be in the console's.
 */
import { join } from 'node:path';
import type { Log } from '../core/shared/surroundings.ts';
import type { Activity } from './activity.ts';
import type { CloudCredentials } from './credentials.ts';
import type { DynamoDbSource } from './dynamodb/binary.ts';
import { startDynamoDb } from './dynamodb/server.ts';
import { startE2b } from './e2b/server.ts';
import { createEventsApi } from './events/api.ts';
import type { EventJournal } from './events/journal.ts';
import type { Topics } from './events/topics.ts';
import { createGateway } from './gateway/gateway.ts';
import { createIssuer, loginSecret } from './identity/issuer.ts';
import { loadTokenKey } from './identity/keys.ts';
import { createKmsApi, loadSigningKeys } from './kms.ts';
import { createLambdaApi } from './lambda/api.ts';
import type { LocalFunctions } from './lambda/functions.ts';
import { type Endpoint, listenApp, listenShared, type ServiceAddress, type SharedPath } from './listen.ts';
import type { CloudPlan } from './plan.ts';
import { REGION } from './resolve.ts';
import { startS3 } from './s3/server.ts';
import { createSecretsApi, secretsOf } from './secrets.ts';
import { startStepFunctions } from './stepfunctions/start.ts';
import type { Changes } from './streams/changes.ts';

/** The path of each service for programs. */
const PATHS = {
  e2b: '',
  s3: '/s3',
  dynamodb: '/dynamodb',
  lambda: '/lambda',
  events: '/events',
  secrets: '/secrets',
  stepfunctions: '/stepfunctions',
  kms: '/kms',
} as const;

/** Those for browsers: with `--port N`, their ports are the ones after that of the programs. */
const PAGES = ['identity', 'api'] as const;

export type Service = keyof typeof PATHS | (typeof PAGES)[number];
export type Endpoints = Record<Service, string>;

export interface ServiceParts {
  dataDir: string;
  port?: number;
  plan: CloudPlan;
  credentials: CloudCredentials;
  functions: LocalFunctions;
  journal: EventJournal;
  topics: Topics;
  dynamodb?: DynamoDbSource | undefined;
  /** Notes activity from outside: calls of functions, and work in sandboxes. */
  activity: Activity;
  /** Told of every write to a table. */
  changes: Changes;
  log: Log;
}

type Start = (parts: ServiceParts, place: ServiceAddress) => Promise<Endpoint>;

const START: Record<Service, Start> = {
  e2b: ({ dataDir, credentials, activity }, place) =>
    startE2b({ dataDir: join(dataDir, 'e2b'), place, apiKey: credentials.e2bApiKey, activity }),
  s3: ({ dataDir, credentials }, place) =>
    startS3({ dataDir: join(dataDir, 's3'), place, credentials, region: REGION }),
  dynamodb: ({ dataDir, credentials, dynamodb: source, changes, log }, place) =>
    startDynamoDb({ dataDir, credentials, place, source, changes, log }),
  lambda: ({ functions, credentials, activity, log }, place) =>
    listenApp(createLambdaApi({ functions, credentials, log }), place, { activity }),
  events: ({ journal, plan, topics, credentials }, place) =>
    listenApp(createEventsApi({ journal, eventBuses: plan.eventBuses, topics, credentials }), place),
  secrets: ({ plan, credentials }, place) =>
    listenApp(createSecretsApi({ secrets: secretsOf(plan.functions, credentials), credentials }), place),
  stepfunctions: (parts, place) => startStepFunctions(parts, place),
  kms: async ({ dataDir, plan, credentials }, place) =>
    listenApp(createKmsApi({ keys: await loadSigningKeys(dataDir, plan.signingKeys), credentials }), place),
  identity: async ({ dataDir, credentials }, place) =>
    listenApp(
      createIssuer({ key: await loadTokenKey(dataDir), secret: loginSecret(credentials.secretAccessKey) }),
      place,
      { hasPages: true },
    ),
  api: async ({ dataDir, plan, functions, activity }, place) =>
    listenApp(createGateway({ routes: plan.routes, functions, key: await loadTokenKey(dataDir) }), place, {
      activity,
      hasPages: true,
    }),
};

export interface Services {
  endpoints: Endpoints;
  /** A place beside the services, for what the program serves itself. */
  at(path: string): SharedPath;
  close(): Promise<void>;
}

/**
 * Answers the URLs, and how to stop. Throws `ConfigurationError` with a taken port; then nothing is left
 * running.
 */
export const startServices = async (parts: ServiceParts): Promise<Services> => {
  await using starting = new AsyncDisposableStack();
  const { port } = parts;
  // The port is taken before anything in the directory is touched.
  const shared = await listenShared(port);
  starting.defer(() => shared.close());
  const startAt = async (service: Service, place: ServiceAddress): Promise<string> => {
    const endpoint = await START[service](parts, place);
    starting.defer(() => endpoint.close());
    return endpoint.url;
  };
  const start = (service: keyof typeof PATHS): Promise<string> => startAt(service, shared.at(PATHS[service]));
  const startPages = (service: (typeof PAGES)[number]): Promise<string> =>
    startAt(service, port === undefined ? 0 : port + 1 + PAGES.indexOf(service));
  const endpoints: Endpoints = {
    e2b: await start('e2b'),
    s3: await start('s3'),
    dynamodb: await start('dynamodb'),
    lambda: await start('lambda'),
    events: await start('events'),
    secrets: await start('secrets'),
    stepfunctions: await start('stepfunctions'),
    kms: await start('kms'),
    identity: await startPages('identity'),
    api: await startPages('api'),
  };
  const running = starting.move();
  return { endpoints, at: (path) => shared.at(path), close: () => running.disposeAsync() };
};
