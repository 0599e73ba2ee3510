/** An embedded cloud in a child process, so that its memory and its processor time are nobody else's, and its functions as callers call them. */
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import type { Endpoints } from '../local/services.ts';
import type { Units } from '../test/support/recorded-units.ts';
import type { ProfiledCode } from './processor-profile.ts';

export interface Usage {
  /** Its own, and of every process it started that has ended. */
  cpuMs: number;
  /** After a collection of garbage. */
  heapBytes: number;
  /** Buffers, outside of the heap. */
  externalBytes: number;
  residentBytes: number;
  /** The longest that its own thread did one thing and nothing else, since it was asked before. */
  stalledMs: number;
  databaseCpuMs: number;
  databaseResidentBytes: number;
}

export type Question = 'usage' | 'units' | 'profile' | 'profiled' | 'close';
export type Answer =
  | { kind: 'ready'; endpoints: Endpoints; environment: Readonly<Record<string, string>> }
  | { kind: 'usage'; usage: Usage }
  | { kind: 'units'; units: Units }
  | { kind: 'profile' }
  | { kind: 'profiled'; codes: ProfiledCode[] }
  | { kind: 'ended'; sagas: { sagaId: string; name: string }[] };

const CHILD = join(import.meta.dirname, 'cloud-child.ts');

/** More than are ever asked at once, or the client's own queue is what is measured. */
const SOCKETS = 2_000;
const AGAIN_MS = 50;

export interface CloudProcess {
  endpoints: Endpoints;
  environment: Readonly<Record<string, string>>;
  /** For the SDK's clients. */
  client: ReturnType<typeof clientOptions>;
  /** Calls again when it is told to, as callers do. */
  invoke: (name: string, event: unknown) => Promise<Record<string, unknown>>;
  /** How often it was told to. */
  repeats: () => number;
  usage: () => Promise<Usage>;
  /** What was written so far. Counted only when it was started so. */
  units: () => Promise<Units>;
  /** Where its own processor time goes during the work, DynamoDB's left out. */
  profiled: (work: () => Promise<unknown>) => Promise<ProfiledCode[]>;
  [Symbol.asyncDispose](): Promise<void>;
}

interface Options {
  /** Files that serve functions of their own. */
  functions?: readonly string[];
  counting?: boolean;
  /** Told of sagas that ended. */
  onEnded?: (sagas: { sagaId: string; name: string }[]) => void;
  /** Told once, when the process has ended. */
  onGone?: (reason: Error) => void;
}

const clientOptions = (environment: Readonly<Record<string, string>>) => ({
  region: 'us-east-1',
  credentials: {
    accessKeyId: environment['AWS_ACCESS_KEY_ID'] ?? '',
    secretAccessKey: environment['AWS_SECRET_ACCESS_KEY'] ?? '',
  },
  maxAttempts: 1,
  requestHandler: { httpAgent: { maxSockets: SOCKETS }, requestTimeout: 600_000 },
});

export const startCloudProcess = async (
  dataDir: string,
  { functions = [], counting = false, onEnded, onGone }: Options = {},
): Promise<CloudProcess> => {
  const child = fork(CHILD, [dataDir, counting ? 'counting' : '', ...functions], {
    execArgv: ['--expose-gc'],
  });
  const asked = new Map<Answer['kind'], PromiseWithResolvers<Answer>>();
  const gone = Promise.withResolvers<void>();
  const expectAnswer = <Kind extends Answer['kind']>(
    kind: Kind,
  ): Promise<Extract<Answer, { kind: Kind }>> => {
    const waiting = Promise.withResolvers<Answer>();
    asked.set(kind, waiting);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- by its kind
    return waiting.promise as Promise<Extract<Answer, { kind: Kind }>>;
  };
  const ready = expectAnswer('ready');
  child.on('message', (answer: Answer) => {
    if (answer.kind === 'ended') onEnded?.(answer.sagas);
    else asked.get(answer.kind)?.resolve(answer);
  });
  child.on('exit', (code) => {
    gone.resolve();
    const error = new Error(`the cloud ended with ${code}`);
    for (const waiting of asked.values()) {
      waiting.promise.catch(() => undefined);
      waiting.reject(error);
    }
    onGone?.(error);
  });
  const { endpoints, environment } = await ready;
  const client = clientOptions(environment);
  const lambda = new LambdaClient({ ...client, endpoint: endpoints.lambda });

  let repeats = 0;
  const once = async (name: string, event: unknown): Promise<Record<string, unknown>> => {
    const answer = await lambda.send(
      new InvokeCommand({ FunctionName: `walkback-${name}`, Payload: JSON.stringify(event) }),
    );
    const payload = answer.Payload?.transformToString() ?? 'null';
    if (answer.FunctionError !== undefined) throw new Error(`walkback-${name} failed: ${payload}`);
    return JSON.parse(payload);
  };

  return {
    endpoints,
    environment,
    client,
    invoke: async (name, event) => {
      for (;;) {
        try {
          return await once(name, event);
        } catch (error) {
          if (!(error instanceof Error && error.message.includes('Call again'))) throw error;
          repeats += 1;
          await delay(AGAIN_MS);
        }
      }
    },
    repeats: () => repeats,
    usage: async () => {
      const answer = expectAnswer('usage');
      child.send('usage' satisfies Question);
      return (await answer).usage;
    },
    units: async () => {
      const answer = expectAnswer('units');
      child.send('units' satisfies Question);
      return (await answer).units;
    },
    profiled: async (work) => {
      const began = expectAnswer('profile');
      child.send('profile' satisfies Question);
      await began;
      await work();
      const ended = expectAnswer('profiled');
      child.send('profiled' satisfies Question);
      return (await ended).codes;
    },
    [Symbol.asyncDispose]: async () => {
      lambda.destroy();
      if (child.connected) child.send('close' satisfies Question);
      await gone.promise;
    },
  };
};
