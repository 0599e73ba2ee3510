/** An embedded cloud in a child process, and the saga API of it as callers see it. */
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetExecutionHistoryCommand, SFNClient } from '@aws-sdk/client-sfn';
import type { LedgerRow } from '../../contract/saga-answers.ts';
import type { Endpoints } from '../../local/services.ts';
import type { Units } from '../../test/support/recorded-units.ts';
import { manifests } from './tools.ts';

export interface Usage {
  cpuMs: number;
  /** After a collection of garbage. */
  heapBytes: number;
  /** Buffers, outside of the heap. */
  externalBytes: number;
  residentBytes: number;
  databaseCpuMs: number;
  databaseResidentBytes: number;
}

export type Question = 'usage' | 'units' | 'close';
export type Answer =
  | { kind: 'ready'; endpoints: Endpoints; environment: Readonly<Record<string, string>> }
  | { kind: 'usage'; usage: Usage }
  | { kind: 'units'; units: Units }
  | { kind: 'ended'; sagas: { sagaId: string; name: string }[] };

const CHILD = join(import.meta.dirname, 'child.ts');
const MACHINE = 'arn:aws:states:us-east-1:000000000000:execution:walkback-saga';

/** More than are ever asked at once, or the client's own queue is what is measured. */
const SOCKETS = 2_000;
const AGAIN_MS = 50;

export interface SagaCloud {
  /** Calls again when it is told to, as callers do. */
  invoke(name: string, event: unknown): Promise<Record<string, unknown>>;
  /** How often it was told to. */
  repeats(): number;
  /** Resolves with the name of its last event when the saga has ended. */
  ended(sagaId: string): Promise<string>;
  usage(): Promise<Usage>;
  /** What was written so far. Counted only when it was started so. */
  units(): Promise<Units>;
  rows(sagaId: string): Promise<LedgerRow[]>;
  /** Resolves when the ledger of this child says that it is sealed. */
  sealed(sagaId: string): Promise<void>;
  /** Of its first execution, as AWS counts them; 0 when there was none. */
  transitions(sagaId: string): Promise<number>;
  [Symbol.asyncDispose](): Promise<void>;
}

export const startSagaCloud = async (dataDir: string, counting = false): Promise<SagaCloud> => {
  const child = fork(CHILD, [dataDir, ...(counting ? ['counting'] : [])], {
    execArgv: ['--expose-gc'],
  });
  const ends = new Map<string, PromiseWithResolvers<string>>();
  const asked = new Map<Answer['kind'], PromiseWithResolvers<Answer>>();
  const gone = Promise.withResolvers<void>();
  const endOf = (sagaId: string): PromiseWithResolvers<string> => {
    const known = ends.get(sagaId) ?? Promise.withResolvers<string>();
    ends.set(sagaId, known);
    return known;
  };
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
    if (answer.kind === 'ended') for (const { sagaId, name } of answer.sagas) endOf(sagaId).resolve(name);
    else asked.get(answer.kind)?.resolve(answer);
  });
  child.on('exit', (code) => {
    gone.resolve();
    const error = new Error(`the cloud ended with ${code}`);
    for (const waiting of [...asked.values(), ...ends.values()]) {
      waiting.promise.catch(() => undefined);
      waiting.reject(error);
    }
  });
  const { endpoints, environment } = await ready;
  const credentials = {
    accessKeyId: environment['AWS_ACCESS_KEY_ID'] ?? '',
    secretAccessKey: environment['AWS_SECRET_ACCESS_KEY'] ?? '',
  };
  const client = {
    region: 'us-east-1',
    credentials,
    maxAttempts: 1,
    requestHandler: { httpAgent: { maxSockets: SOCKETS }, requestTimeout: 600_000 },
  };
  const lambda = new LambdaClient({ ...client, endpoint: endpoints.lambda });
  const sfn = new SFNClient({ ...client, endpoint: endpoints.stepfunctions });

  let repeats = 0;
  const once = async (name: string, event: unknown): Promise<Record<string, unknown>> => {
    const answer = await lambda.send(
      new InvokeCommand({ FunctionName: `walkback-${name}`, Payload: JSON.stringify(event) }),
    );
    const payload = answer.Payload?.transformToString() ?? 'null';
    if (answer.FunctionError !== undefined) throw new Error(`walkback-${name} failed: ${payload}`);
    return JSON.parse(payload);
  };
  const invoke: SagaCloud['invoke'] = async (name, event) => {
    for (;;) {
      try {
        return await once(name, event);
      } catch (error) {
        if (!(error instanceof Error && error.message.includes('Call again'))) throw error;
        repeats += 1;
        await delay(AGAIN_MS);
      }
    }
  };
  await invoke('put-catalog', { tools: manifests, definitions: [] });

  const rows: SagaCloud['rows'] = async (sagaId) => {
    const { entries } = await invoke('query-ledger', { sagaId, limit: 1000 });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the function's own answer
    return entries as LedgerRow[];
  };

  return {
    invoke,
    ended: (sagaId) => endOf(sagaId).promise,
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
    repeats: () => repeats,
    rows,
    sealed: async (sagaId) => {
      while ((await rows(sagaId)).at(-1)?.status !== 'sealed') await delay(AGAIN_MS);
    },
    transitions: async (sagaId) => {
      const executionArn = `${MACHINE}:${sagaId}-g1`;
      const { events = [] } = await sfn
        .send(new GetExecutionHistoryCommand({ executionArn, maxResults: 1000 }))
        .catch((error: unknown) => {
          if (error instanceof Error && error.name === 'ExecutionDoesNotExist') return { events: [] };
          throw error;
        });
      return events.filter(({ type = '' }) => type.endsWith('StateEntered')).length;
    },
    [Symbol.asyncDispose]: async () => {
      lambda.destroy();
      sfn.destroy();
      if (child.connected) child.send('close' satisfies Question);
      await gone.promise;
    },
  };
};
