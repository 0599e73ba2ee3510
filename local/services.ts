/** Starts every service of the cloud, in the order of their ports; all or none. */
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
import { claimPort, type Endpoint, listenApp } from './listen.ts';
import type { CloudPlan } from './plan.ts';
import { REGION } from './resolve.ts';
import { startS3 } from './s3/server.ts';
import { createSecretsApi, secretsOf } from './secrets.ts';
import { startStepFunctions } from './stepfunctions/start.ts';
import type { Changes } from './streams/changes.ts';

/** In the order of their ports: `--port N` gives the first one N. */
const SERVICES = [
  'e2b',
  's3',
  'dynamodb',
  'lambda',
  'events',
  'secrets',
  'stepfunctions',
  'kms',
  'identity',
  'api',
] as const;
export type Service = (typeof SERVICES)[number];
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

type Start = (parts: ServiceParts, port: number) => Promise<Endpoint>;

const START: Record<Service, Start> = {
  e2b: ({ dataDir, credentials, activity }, port) =>
    startE2b({ dataDir: join(dataDir, 'e2b'), port, apiKey: credentials.e2bApiKey, activity }),
  s3: ({ dataDir, credentials }, port) =>
    startS3({ dataDir: join(dataDir, 's3'), port, credentials, region: REGION }),
  dynamodb: ({ dataDir, credentials, dynamodb: source, changes, log }, port) =>
    startDynamoDb({ dataDir, credentials, port, source, changes, log }),
  lambda: ({ functions, credentials, activity, log }, port) =>
    listenApp(createLambdaApi({ functions, credentials, log }), port, { activity }),
  events: ({ journal, plan, topics, credentials }, port) =>
    listenApp(createEventsApi({ journal, eventBuses: plan.eventBuses, topics, credentials }), port),
  secrets: ({ plan, credentials }, port) =>
    listenApp(createSecretsApi({ secrets: secretsOf(plan.functions, credentials), credentials }), port),
  stepfunctions: (parts, port) => startStepFunctions(parts, port),
  kms: async ({ dataDir, plan, credentials }, port) =>
    listenApp(createKmsApi({ keys: await loadSigningKeys(dataDir, plan.signingKeys), credentials }), port),
  identity: async ({ dataDir, credentials }, port) =>
    listenApp(
      createIssuer({ key: await loadTokenKey(dataDir), secret: loginSecret(credentials.secretAccessKey) }),
      port,
      { hasPages: true },
    ),
  api: async ({ dataDir, plan, functions, activity }, port) =>
    listenApp(createGateway({ routes: plan.routes, functions, key: await loadTokenKey(dataDir) }), port, {
      activity,
      hasPages: true,
    }),
};

const startOne = async (service: Service, parts: ServiceParts): Promise<Endpoint> => {
  const { port } = parts;
  if (port === undefined) return START[service](parts, 0);
  // Checked first, so that a taken port gives the same clear error for every service.
  return START[service](parts, await claimPort(port + SERVICES.indexOf(service)));
};

/**
 * Answers the URLs, and how to stop. Throws `ConfigurationError` with a taken port; then nothing is left
 * running.
 */
export const startServices = async (
  parts: ServiceParts,
): Promise<{ endpoints: Endpoints; close(): Promise<void> }> => {
  await using starting = new AsyncDisposableStack();
  const start = async (service: Service): Promise<string> => {
    const endpoint = await startOne(service, parts);
    starting.defer(() => endpoint.close());
    return endpoint.url;
  };
  const endpoints: Endpoints = {
    e2b: await start('e2b'),
    s3: await start('s3'),
    dynamodb: await start('dynamodb'),
    lambda: await start('lambda'),
    events: await start('events'),
    secrets: await start('secrets'),
    stepfunctions: await start('stepfunctions'),
    kms: await start('kms'),
    identity: await start('identity'),
    api: await start('api'),
  };
  const running = starting.move();
  return { endpoints, close: () => running.disposeAsync() };
};
