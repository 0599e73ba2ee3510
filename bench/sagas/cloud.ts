/** An embedded cloud with the tools of the benchmarks, and the saga API of it as callers see it. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { GetExecutionHistoryCommand, SFNClient } from '@aws-sdk/client-sfn';
import type { LedgerRow } from '../../contract/ledger-query.ts';
import { type CloudProcess, startCloudProcess } from '../cloud-process.ts';
import { manifests } from './tools.ts';

const MACHINE = 'arn:aws:states:us-east-1:000000000000:execution:walkback-saga';
const AGAIN_MS = 50;

export interface SagaCloud extends Omit<CloudProcess, 'endpoints' | 'environment' | 'client'> {
  /** Resolves with the name of its last event when the saga has ended. */
  ended(sagaId: string): Promise<string>;
  rows(sagaId: string): Promise<LedgerRow[]>;
  /** Resolves when the ledger of this child says that it is sealed. */
  sealed(sagaId: string): Promise<void>;
  /** Of its first execution, as AWS counts them; 0 when there was none. */
  transitions(sagaId: string): Promise<number>;
}

export const startSagaCloud = async (dataDir: string, counting = false): Promise<SagaCloud> => {
  const ends = new Map<string, PromiseWithResolvers<string>>();
  const endOf = (sagaId: string): PromiseWithResolvers<string> => {
    const known = ends.get(sagaId) ?? Promise.withResolvers<string>();
    ends.set(sagaId, known);
    return known;
  };
  const cloud = await startCloudProcess(dataDir, {
    counting,
    functions: [join(import.meta.dirname, 'tools.ts')],
    onEnded: (sagas) => {
      for (const { sagaId, name } of sagas) endOf(sagaId).resolve(name);
    },
    onGone: (reason) => {
      for (const waiting of ends.values()) {
        waiting.promise.catch(() => undefined);
        waiting.reject(reason);
      }
    },
  });
  const { invoke, endpoints } = cloud;
  const sfn = new SFNClient({ ...cloud.client, endpoint: endpoints.stepfunctions });
  await invoke('put-catalog', { tools: manifests, definitions: [] });

  const rows: SagaCloud['rows'] = async (sagaId) => {
    const { entries } = await invoke('query-ledger', { sagaId, limit: 1000 });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the function's own answer
    return entries as LedgerRow[];
  };

  return {
    invoke,
    repeats: cloud.repeats,
    usage: cloud.usage,
    units: cloud.units,
    profiled: cloud.profiled,
    ended: (sagaId) => endOf(sagaId).promise,
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
      sfn.destroy();
      await cloud[Symbol.asyncDispose]();
    },
  };
};
