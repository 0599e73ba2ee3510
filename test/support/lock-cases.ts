/** Random sagas over few resources and a limited project, with kills: what must hold of locks and slots (L8, L9). */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import * as z from 'zod';
import { fold } from '../../core/saga/decide/fold.ts';
import { differingHeadFields } from '../../core/saga/entries/check-head.ts';
import { findChainBreak } from '../../core/saga/entries/hash-chain.ts';
import type { SagaStore } from '../../core/saga/ports.ts';
import { Crash } from '../../kit/testing/saga-machine.ts';
import { type FleetOptions, sagaFleet } from './saga-fleet.ts';
import { scriptedTool } from './scripted-saga.ts';

export interface LockTally {
  completed: number;
  compensated: number;
  busy: number;
  deaths: number;
  waited: number;
  queued: number;
}

const generator = (seed: number) => {
  let state = (seed % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
};

/** Forward calls that are at work, by resource key: what a provider would see. */
const createProvider = (random: () => number) => {
  const owners = new Map<string, string>();
  const tokens = new Map<string, number>();
  const problems: string[] = [];
  return {
    problems,
    /** A call of a saga on a resource, with the token of its lock. */
    act: (sagaId: string, key: string, token: number | undefined) => {
      const seen = tokens.get(key) ?? 0;
      if (token === undefined) problems.push(`${sagaId} worked on ${key} without a lock`);
      else if (token < seen) problems.push(`${sagaId} worked on ${key} with ${token}, after ${seen}`);
      tokens.set(key, Math.max(seen, token ?? 0));
      const owner = owners.get(key);
      if (owner !== undefined && owner !== sagaId)
        problems.push(`${sagaId} worked on ${key}, which ${owner} has`);
      owners.set(key, sagaId);
    },
    ended: (sagaId: string) => {
      for (const [key, owner] of owners) if (owner === sagaId) owners.delete(key);
    },
    random,
  };
};

export const runLocks = async (
  seed: number,
  /** `isUnlimited`: no limit of the project, which else is drawn and may be so low that nobody waits for a lock. */
  {
    sagas,
    keys,
    isUnlimited = false,
    ...meeting
  }: { sagas: number; keys: number; isUnlimited?: boolean } & Pick<FleetOptions, 'meets' | 'coarseMs'>,
): Promise<LockTally> => {
  const random = generator(seed);
  const provider = createProvider(random);
  const limit = 1 + Math.floor(random() * 8);
  const failing = new Set<string>();
  const tally: LockTally = { completed: 0, compensated: 0, busy: 0, deaths: 0, waited: 0, queued: 0 };
  const open = new Set<string>();

  const forget = async (store: SagaStore) => {
    for (const sagaId of open) {
      const status = (await store.getHead(sagaId))?.state.status;
      if (status !== 'COMPLETED' && status !== 'COMPENSATED') continue;
      open.delete(sagaId);
      provider.ended(sagaId);
    }
    let holding = 0;
    for (const sagaId of open) {
      if (typeof (await store.getHead(sagaId))?.state.slot === 'number') holding += 1;
    }
    expect(holding, `seed ${seed}: slots in use`).toBeLessThanOrEqual(limit);
  };

  /** People answer when it pleases them; some never do. */
  const answerSome = async (store: SagaStore) => {
    if (random() > 0.05) return;
    for (const sagaId of open) {
      const wait = (await store.getHead(sagaId))?.state.wait;
      if (wait?.kind !== 'approval' || wait.untilMs <= fleet.clock.nowMs() || random() < 0.5) continue;
      const decision = random() < 0.8 ? 'approve' : 'reject';
      await fleet.answer({ sagaId, stepId: `s${wait.step}`, decision, by: 'ada' });
    }
  };

  const fleet = sagaFleet({
    random,
    ...meeting,
    dies: () => random() < 0.01,
    onTurn: async (store) => {
      await forget(store);
      await answerSome(store);
    },
    // It ended, and those who wait are not told.
    storing: (store) => ({
      ...store,
      permits: {
        ...store.permits,
        release: async (permit) => {
          if (random() < 0.1) throw new Crash();
          await store.permits.release(permit);
        },
      },
    }),
    invoke: async (request) => {
      const { key } = z.object({ key: z.string() }).parse(request.arguments);
      await forget(fleet.kept);
      provider.act(request.sagaId, key, request.fencingToken);
      const draw = random();
      if (draw < 0.05) return { Error: 'States.Timeout', Cause: '' };
      if (request.operation === 'execute' && failing.has(request.sagaId) && draw < 0.5) {
        const error = { name: 'Refused', message: 'no' };
        return { Payload: { outcome: 'rejected', retryable: false, error } };
      }
      return { Payload: { outcome: 'committed', result: { key } } };
    },
  });
  const tool = scriptedTool('work', 'compensatable', {
    resourceKey: 'key',
    exclusive: true,
    schemas: { input: {}, output: {}, compensation: {} },
  });
  await fleet.store.putTool(tool);

  const stepsOf = (sagaId: string) =>
    Array.from({ length: 1 + Math.floor(random() * 4) }, (_, at) => {
      const key = `resource-${Math.floor(random() * keys)}`;
      // Known from the input, or only from a result: then it is taken when the step comes.
      const isLate = at > 0 && random() < 0.5;
      const value = isLate ? `{% steps.s0.result.key ? '${key}' : '' %}` : key;
      const approval = random() < 0.1 ? { approval: { timeoutSeconds: 600 } } : {};
      return { id: `s${at}`, tool: 'work', arguments: { key: value, sagaId }, ...approval };
    });
  const limited = random() < 0.7 && !isUnlimited;
  for (let at = 0; at < sagas; at += 1) {
    const sagaId = `saga-${at}`;
    if (random() < 0.2) failing.add(sagaId);
    open.add(sagaId);
    await fleet.clock.advance(Math.floor(random() * 500));
    await fleet.start({
      sagaId,
      plan: { steps: stepsOf(sagaId) },
      input: {},
      requestedBy: 'me',
      project: 'shop',
      ...(limited ? { maxConcurrent: limit } : {}),
    });
  }
  await fleet.settle();
  expect(provider.problems, `seed ${seed}`).toEqual([]);
  for (let at = 0; at < sagas; at += 1) {
    const label = `seed ${seed}, saga-${at}`;
    const head = await fleet.store.getHead(`saga-${at}`);
    const entries = await fleet.store.listEntries(`saga-${at}`);
    if (head === undefined) throw new Error(`${label}: no head`);
    expect(['COMPLETED', 'COMPENSATED'], `${label}: ${head.state.status}`).toContain(head.state.status);
    expect(findChainBreak(entries, head), label).toBeUndefined();
    expect(isDeepStrictEqual(fold(entries), head.state), label).toBe(true);
    expect(differingHeadFields(head, entries), label).toEqual([]);
    if (head.state.status === 'COMPLETED') tally.completed += 1;
    else tally.compensated += 1;
    if (head.state.failure?.error.name === 'ResourceBusy') tally.busy += 1;
    tally.waited += entries.filter(
      ({ direction, status }) => direction === 'lock' && status === 'waiting',
    ).length;
    tally.queued += entries.filter(
      ({ direction, status }) => direction === 'slot' && status === 'queued',
    ).length;
  }
  tally.deaths = fleet.counts.deaths;
  return tally;
};
