/** How one saga grows from 5 to 500 steps: transitions, write units and time per step, through the real tables' adapter. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import * as z from 'zod';
import { createSagaStore } from '../../adapters/aws/sagas/saga-store.ts';
import { createEvaluator } from '../../adapters/jsonata/evaluator.ts';
import { DAY_SECONDS } from '../../contract/times.ts';
import type { EffectKind, ToolManifest } from '../../core/saga/model/tool.ts';
import { sagaMachine } from '../../kit/testing/saga-machine.ts';
import { virtualClock } from '../../kit/testing/virtual-clock.ts';
import { startDynamoDb } from '../../local/dynamodb/server.ts';
import { planCloud } from '../../local/plan.ts';
import { provision } from '../../local/provision.ts';
import { loadTemplate } from '../../local/template.ts';
import { startCountingDynamoDb } from '../../test/support/counting-dynamodb.ts';

/** As deployed: in a process of its own, one for all machines of a file. */
const evaluate = createEvaluator();

export interface Growth {
  tier: Tier;
  steps: number;
  /** Of functions: Walkback's and the tools'. */
  calls: number;
  transitions: number;
  /** Of the two tables; and with their indexes. */
  writeUnits: number;
  withIndexes: number;
  ms: number;
}

/** What one step more takes of a saga, without its fixed costs: the difference between a short one and a long one. */
export const furtherStep = (short: Growth, long: Growth) => {
  const costOf = (of: 'transitions' | 'writeUnits' | 'withIndexes') => {
    const step = (long[of] - short[of]) / (long.steps - short.steps);
    return { step, fixed: short[of] - step * short.steps };
  };
  return {
    transitions: costOf('transitions'),
    writeUnits: costOf('writeUnits'),
    withIndexes: costOf('withIndexes'),
  };
};

const RETRY = { maxAttempts: 1, backoffSeconds: 0, backoffRate: 1, maxBackoffSeconds: 0 };
const CREDENTIALS = { accessKeyId: 'bench', secretAccessKey: 'bench' };

const tool = (name: string, effect: EffectKind): ToolManifest => ({
  name,
  version: '1',
  description: '',
  effect,
  functionName: 'tools',
  timeoutSeconds: 10,
  retry: RETRY,
  idempotencyWindowSeconds: DAY_SECONDS,
  replaysErrors: false,
  probe: false,
  ...(effect === 'compensatable' ? { compensation: { name: 'undo', timeoutSeconds: 10, retry: RETRY } } : {}),
  schemas: { input: {}, output: {}, compensation: {} },
});

/** A plan shaped like the refund: one read, then changes that use the result before them. */
const planOf = (steps: number) => ({
  steps: Array.from({ length: steps }, (_, index) => ({
    id: `step-${index}`,
    tool: index % 5 === 0 ? 'look' : 'change',
    arguments: {
      order: '{% input.order %}',
      before: index === 0 ? 'none' : `{% steps.\`step-${index - 1}\`.externalRef %}`,
    },
  })),
});

const capacity = z.object({
  CapacityUnits: z.number().optional(),
  Table: z.object({ CapacityUnits: z.number().optional() }).optional(),
});
const consumed = z.object({ ConsumedCapacity: z.union([capacity, z.array(capacity)]) });

/** Adds up what the service says its writes consumed. */
const meter = (client: DynamoDBClient) => {
  const units = { tables: 0, withIndexes: 0 };
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (parameters) => {
        const writes = /^(PutItem|TransactWriteItems|BatchWriteItem)Command$/.test(commandName);
        if (writes) Object.assign(parameters.input, { ReturnConsumedCapacity: 'INDEXES' });
        const answer = await next(parameters);
        const seen = writes ? consumed.safeParse(answer.output) : undefined;
        if (seen?.success === true) {
          for (const one of [seen.data.ConsumedCapacity].flat()) {
            units.withIndexes += one.CapacityUnits ?? 0;
            units.tables += one.Table?.CapacityUnits ?? one.CapacityUnits ?? 0;
          }
        }
        return answer;
      },
    { step: 'initialize', name: 'meter' },
  );
  return units;
};

type Machine = ReturnType<typeof sagaMachine>;

/** Ways to run the same steps. Each answers how often it called functions of Walkback. */
const TIERS = {
  machine: async (machine: Machine, sagaId: string, steps: number) => {
    await machine.start({ sagaId, plan: planOf(steps), input: { order: 'o-1' }, requestedBy: 'bench' });
    await machine.execute(sagaId, 1);
    // One Advance for three transitions.
    return 1 + machine.counts.transitions / 3;
  },
  'inline plan': async (machine: Machine, sagaId: string, steps: number) => {
    const plan = { plan: planOf(steps), input: { order: 'o-1' }, drive: 'inline' as const };
    await machine.start({ sagaId, ...plan, requestedBy: 'bench' });
    return 1;
  },
  interactive: async (machine: Machine, sagaId: string, steps: number) => {
    await machine.start({ sagaId, interactive: { onIdle: 'unwind' }, requestedBy: 'bench' });
    for (let index = 0; index < steps; index += 1) {
      const tool = index % 5 === 0 ? 'look' : 'change';
      const given = { order: 'o-1', before: `ref-${sagaId}:${index - 1}` };
      await machine.submit({ sagaId, stepId: `step-${index}`, tool, arguments: given, observe: false });
    }
    await machine.close({ sagaId, outcome: 'complete' });
    return steps + 2;
  },
  'single calls': async (machine: Machine, sagaId: string, steps: number) => {
    for (let index = 0; index < steps; index += 1) {
      const call = { requestId: `${sagaId}-${index}`, arguments: { order: 'o-1', before: 'none' } };
      await machine.callTool({ ...call, tool: index % 5 === 0 ? 'look' : 'change', requestedBy: 'bench' });
    }
    return steps;
  },
};

type Tier = keyof typeof TIERS;

const measure = async (
  client: DynamoDBClient,
  tables: { sagasTable: string; ledgerTable: string },
  tier: Tier,
  steps: number,
): Promise<Growth> => {
  const units = meter(client);
  const store = createSagaStore({ ...tables, client });
  for (const one of [tool('look', 'read'), tool('change', 'compensatable')]) await store.putTool(one);
  const machine = sagaMachine({
    evaluate,
    store,
    clock: virtualClock(),
    invoke: async (_, { idempotencyKey }) => ({
      Payload: { outcome: 'committed', result: { ok: true }, externalRef: `ref-${idempotencyKey}` },
    }),
  });
  Object.assign(units, { tables: 0, withIndexes: 0 });
  const started = performance.now();
  const calls = await TIERS[tier](machine, `${tier.replace(' ', '-')}-${steps}`, steps);
  const ms = performance.now() - started;
  client.middlewareStack.remove('meter');
  return {
    tier,
    steps,
    calls: calls + machine.counts.invocations,
    transitions: machine.counts.transitions,
    writeUnits: units.tables,
    withIndexes: units.withIndexes,
    ms,
  };
};

export const measureGrowth = async (runs: readonly [Tier, number][]): Promise<Growth[]> => {
  await using cleanup = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), 'walkback-bench-'));
  cleanup.defer(() => rm(dataDir, { recursive: true, force: true }));
  const engine = await startCountingDynamoDb(dataDir);
  cleanup.defer(() => engine.close());
  const dynamodb = await startDynamoDb({ dataDir, credentials: CREDENTIALS, source: engine.source });
  const client = new DynamoDBClient({
    region: 'us-east-1',
    endpoint: dynamodb.url,
    credentials: CREDENTIALS,
  });
  cleanup.defer(async () => client.destroy());
  const plan = planCloud(await loadTemplate());
  const named = (part: string): string => plan.tables.find(({ name }) => name.includes(part))?.name ?? '';
  const s3 = new S3Client({ region: 'us-east-1', credentials: CREDENTIALS });
  cleanup.defer(async () => s3.destroy());
  await provision({ ...plan, buckets: [] }, { dynamodb: client, s3 });
  const tables = { sagasTable: named('tablessagas'), ledgerTable: named('tablesledger') };
  const rows: Growth[] = [];
  for (const [tier, steps] of runs) rows.push(await measure(client, tables, tier, steps));
  return rows;
};
