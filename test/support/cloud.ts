/** The embedded cloud for scenario tests: in a directory of its own, on free ports, gone with its scope. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { type Cloud, type CloudOptions, startCloud } from '../../local/cloud.ts';
import type { Service } from '../../local/services.ts';
import { type Fault, type FaultProxy, startFaultProxy } from './fault-proxy.ts';

/** What a caller of a function sees when it failed: the literal name, and the message. */
export class FunctionFailure extends Error {
  override readonly name = 'FunctionFailure';
  readonly errorType: string;

  constructor(errorType: string, message: string) {
    super(`${errorType}: ${message}`);
    this.errorType = errorType;
  }
}

export interface TestCloud extends Cloud {
  /** Invokes `walkback-<name>` over the wire. A function error is thrown as a `FunctionFailure`. */
  invoke(name: string, event: unknown): Promise<Record<string, unknown>>;
  /**
   * Puts a fault proxy between the functions and one service, and starts the functions afresh with it. It is
   * closed with the cloud.
   */
  interpose(service: Exclude<Service, 'lambda' | 'api'>, plan?: Fault[]): Promise<FaultProxy>;
  /** Functions talk to the services directly again, as fresh instances. */
  heal(): void;
}

/** Which variables lead the functions to a service. */
const VARIABLES: Record<Exclude<Service, 'lambda' | 'api'>, string[]> = {
  e2b: ['E2B_API_URL', 'E2B_SANDBOX_URL'],
  s3: ['AWS_ENDPOINT_URL_S3'],
  dynamodb: ['AWS_ENDPOINT_URL_DYNAMODB'],
  events: ['AWS_ENDPOINT_URL_EVENTBRIDGE', 'AWS_ENDPOINT_URL_SNS'],
  secrets: ['AWS_ENDPOINT_URL_SECRETS_MANAGER'],
  stepfunctions: ['AWS_ENDPOINT_URL_SFN'],
  kms: ['AWS_ENDPOINT_URL_KMS'],
  identity: ['WALKBACK_OIDC_CONFIGURATION'],
};

const createInvoke =
  (lambda: LambdaClient): TestCloud['invoke'] =>
  async (name, event) => {
    const answer = await lambda.send(
      new InvokeCommand({ FunctionName: `walkback-${name}`, Payload: JSON.stringify(event) }),
    );
    const payload = JSON.parse(answer.Payload?.transformToString() ?? 'null') as Record<string, unknown>;
    if (answer.FunctionError === undefined) return payload;
    throw new FunctionFailure(String(payload['errorType']), String(payload['errorMessage']));
  };

const lambdaFor = (cloud: Pick<Cloud, 'endpoints' | 'environment'>): LambdaClient =>
  new LambdaClient({
    region: cloud.environment['AWS_REGION'],
    endpoint: cloud.endpoints.lambda,
    credentials: {
      accessKeyId: cloud.environment['AWS_ACCESS_KEY_ID'] ?? '',
      secretAccessKey: cloud.environment['AWS_SECRET_ACCESS_KEY'] ?? '',
    },
    // A test wants to see a failure, not a second try.
    maxAttempts: 1,
  });

/** Invokes the functions of a cloud that runs in another process. */
export const invokerOf = (cloud: Pick<Cloud, 'endpoints' | 'environment'>): TestCloud['invoke'] =>
  createInvoke(lambdaFor(cloud));

/** A directory made here is removed with the cloud; one given by the caller stays, for a restart on its data. */
export const startTestCloud = async (
  options: Pick<
    Partial<CloudOptions>,
    'dataDir' | 'template' | 'dynamodb' | 'notify' | 'log' | 'functions'
  > = {},
): Promise<TestCloud> => {
  await using starting = new AsyncDisposableStack();
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'walkback-cloud-')));
  if (options.dataDir === undefined) {
    starting.defer(async () => {
      await rm(dataDir, { recursive: true, force: true });
    });
  }
  const cloud = starting.use(await startCloud({ ...options, dataDir }));
  const lambda = lambdaFor(cloud);
  starting.defer(() => lambda.destroy());
  const disposal = starting.move();
  const close = (): Promise<void> => disposal.disposeAsync();
  return {
    ...cloud,
    invoke: createInvoke(lambda),
    interpose: async (service, plan = []) => {
      const proxy = disposal.use(await startFaultProxy({ target: cloud.endpoints[service], plan }));
      cloud.reconfigure(Object.fromEntries(VARIABLES[service].map((name) => [name, proxy.url])));
      return proxy;
    },
    heal: () => {
      const names = Object.values(VARIABLES).flat();
      cloud.reconfigure(Object.fromEntries(names.map((name) => [name, cloud.environment[name] ?? ''])));
    },
    close,
    [Symbol.asyncDispose]: close,
  };
};
