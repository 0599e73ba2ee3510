/**
 * Entries of the merge queue whose tools' function dies before or after a request that it makes to a service. Each ends by itself: all
 * of the fork is in the target, or nothing, and no other sandbox is left.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { expect } from 'vitest';
import { createSagaStore } from '../../adapters/aws/sagas/saga-store.ts';
import type { ToolManifest } from '../../core/saga/model/tool.ts';
import { mapAtOnce } from '../../core/shared/at-once.ts';
import { runningFunction } from '../../local/lambda/invoke.ts';
import { functionError } from '../../local/lambda/run-handler.ts';
import { planCloud } from '../../local/plan.ts';
import { loadTemplate } from '../../local/template.ts';
import catalog from '../../tools/catalog.json' with { type: 'json' };
import { mergeQueue } from '../../tools/templates/merge-queue.ts';
import { startTestCloud, type TestCloud } from './cloud.ts';
import { aroundRequests } from './function-requests.ts';
import { mergeStage } from './merge-stage.ts';
import { ledgersOf } from './saga-cloud.ts';
import { sdkOf, shell } from './world.ts';

const TOOLS_FUNCTION = 'walkback-workspace-tools';
/** A call in doubt is settled after it. Enough for each of these calls. */
const DEADLINE_SECONDS = 25;
const AT_ONCE = 8;
/** How long the copy of a verification lives. */
const VERIFYING_MS = 931_000;
const ENDED = /^(COMPLETED|COMPENSATED|COMPENSATION_FAILED)$/;
const PATIENCE = { timeout: 240_000, interval: 1_000 };

/** Under the versions that the function serves; those of the catalog wait ten minutes. A call that only reads is made again at once. */
const storeQuickTools = async ({ endpoints, environment }: TestCloud): Promise<void> => {
  const client = new DynamoDBClient({
    region: environment['AWS_REGION'] ?? '',
    endpoint: endpoints.dynamodb,
    credentials: {
      accessKeyId: environment['AWS_ACCESS_KEY_ID'] ?? '',
      secretAccessKey: environment['AWS_SECRET_ACCESS_KEY'] ?? '',
    },
  });
  const { tables } = planCloud(await loadTemplate());
  const named = (part: string) => tables.find(({ name }) => name.includes(part))?.name ?? '';
  const store = createSagaStore({
    client,
    sagasTable: named('tablessagas'),
    ledgerTable: named('tablesledger'),
  });
  const quick = <Timed extends object>(timed: Timed) => ({ ...timed, timeoutSeconds: DEADLINE_SECONDS });
  for (const tool of catalog.tools as unknown as ToolManifest[]) {
    const { compensation, effect } = tool;
    if (effect === 'read') continue;
    await store.putTool({
      ...quick(tool),
      ...(compensation === undefined ? {} : { compensation: quick(compensation) }),
    });
  }
  client.destroy();
};

export interface Death {
  /** Of the requests that the tools' function makes for this entry, from 1 on. */
  request: number;
  when: 'before' | 'after';
}

/** Counts what the calls of each entry ask of services. A call that died asks nothing any more, and the entry's later ones live. */
const watchCalls = () => {
  const invocation = new AsyncLocalStorage<{ id?: string; isDead?: boolean; exit: () => void }>();
  const run = runningFunction.run.bind<(name: string, act: () => unknown) => unknown>(runningFunction);
  const within = (name: string, act: () => unknown) =>
    run(name, () => {
      if (name !== TOOLS_FUNCTION) return act();
      const dead = Promise.withResolvers<unknown>();
      const exit = () => dead.resolve(functionError('Runtime.ExitError', 'The process ended.'));
      return invocation.run({ exit }, () => Promise.race([act(), dead.promise]));
    });
  Object.assign(runningFunction, { run: within });
  const watched = new Map<string, { death?: Death; requests: number; hasDied: boolean }>();
  const end = aroundRequests(async (_, request, command) => {
    const mine = invocation.getStore();
    if (mine === undefined) return request();
    // Nothing of it goes on.
    if (mine.isDead === true) return new Promise(() => undefined);
    // The first that a call asks for is the tombstone of its key.
    const [, id] = /"TOMBSTONE#([\w-]+):/.exec(JSON.stringify((command as { input?: unknown }).input)) ?? [];
    if (id !== undefined) mine.id ??= id;
    const entry = watched.get(mine.id ?? '');
    if (entry === undefined || entry.hasDied) return request();
    entry.requests += 1;
    const isAt = entry.death?.request === entry.requests;
    if (isAt) {
      mine.isDead = true;
      entry.hasDied = true;
      if (entry.death?.when === 'after') await request();
      mine.exit();
      return new Promise(() => undefined);
    }
    return request();
  });
  return {
    watch: (id: string, death?: Death) => {
      const entry = { requests: 0, hasDied: false, ...(death === undefined ? {} : { death }) };
      watched.set(id, entry);
      return entry;
    },
    end: () => {
      end();
      Object.assign(runningFunction, { run });
    },
  };
};

const foundSandboxes = async (cloud: TestCloud) => {
  const pages = sdkOf(cloud).list();
  const found = [];
  while (pages.hasNext) found.push(...(await pages.nextItems()));
  return found;
};

/** `chosen`: of that many requests of an entry. Answers how many entries died, and how they ended. */
export const dieInQueue = async (
  chosen: (requests: number) => readonly Death[],
): Promise<Record<string, number>> => {
  const cloud = await startTestCloud();
  const calls = watchCalls();
  const { isSound, rows } = ledgersOf(cloud);
  const ended: Record<string, number> = {};
  const sandboxes: string[] = [];
  try {
    await storeQuickTools(cloud);
    const stage = mergeStage(cloud);
    const ends = async (id: string, death?: Death): Promise<number> => {
      const world = await stage.open();
      const fork = await stage.forkOf(world);
      sandboxes.push(world.sandboxId, fork.sandboxId);
      shell(fork.root, 'echo merged > api/merged; git -C web commit -q --allow-empty -m of-fork');
      await fork.checkpoint('work');
      const before = world.fingerprint();
      const entry = calls.watch(id, death);
      const command = 'test -e api/merged';
      await cloud.invoke('start-saga', {
        sagaId: id,
        definition: { name: mergeQueue.name },
        project: id,
        input: {
          from: fork.sessionId,
          into: world.sessionId,
          commitments: [{ id: 'there', description: 'it is there', command }],
        },
        requestedBy: 'me',
      });
      const statusNow = async () => (await cloud.invoke('describe-saga', { sagaId: id }))['status'];
      try {
        await expect.poll(statusNow, PATIENCE).toMatch(ENDED);
        const status = String(await statusNow());
        const about = `${id}: ${status}`;
        expect(entry.hasDied, about).toBe(death !== undefined);
        expect(status, about).not.toBe('COMPENSATION_FAILED');
        expect(world.fingerprint(), about).toEqual(status === 'COMPLETED' ? fork.looks() : before);
        expect(await isSound(id), about).toBe(true);
        ended[status] = (ended[status] ?? 0) + 1;
      } catch (cause) {
        const story = (await rows(id)).rows.map((row) => JSON.stringify(row));
        throw new Error(`${id}:\n${story.join('\n')}`, { cause });
      }
      return entry.requests;
    };
    const requests = await ends('alive');
    const deaths = chosen(requests);
    await mapAtOnce(deaths, AT_ONCE, (death) => ends(`${death.when}-${death.request}`, death));
    const left = (await foundSandboxes(cloud)).filter(({ sandboxId }) => !sandboxes.includes(sandboxId));
    for (const { metadata, startedAt, endAt } of left) {
      // A verification that died leaves a copy that ends by itself.
      expect(metadata).toMatchObject({ 'walkback-request': expect.stringMatching(/^verify-/) });
      expect(endAt.getTime() - startedAt.getTime()).toBeLessThanOrEqual(VERIFYING_MS);
    }
    return ended;
  } finally {
    calls.end();
    await cloud.close();
  }
};
