/** Many sagas that want one resource, against as many that share none. */
import type { LedgerRow } from '../../contract/ledger-query.ts';
import { quantile } from '../numbers.ts';
import type { SagaCloud } from './cloud.ts';

const WORK_MS = 20;
const STARTS_AT_ONCE = 8;

interface Held {
  /** When its ledger began, and when it got the resource. */
  startMs: number;
  heldMs: number;
}

export interface Contention {
  sagas: number;
  wallMs: number;
  freeWallMs: number;
  waits: { median: number; longest: number };
  /** Of a hundred pairs, how many got the resource in another order than the sagas began in. */
  turnedPercent: number;
}

const heldOf = (rows: readonly LedgerRow[]): Held => {
  const began = rows.find(({ direction, status }) => direction === 'forward' && status === 'started');
  return { startMs: Date.parse(rows[0]?.at ?? ''), heldMs: Date.parse(began?.at ?? '') };
};

/** Pairs in the wrong order; those that began in the same millisecond have none. */
const turned = (held: readonly Held[]): number => {
  let pairs = 0;
  let wrong = 0;
  for (const [n, one] of held.entries()) {
    for (const other of held.slice(n + 1)) {
      if (one.startMs === other.startMs) continue;
      pairs += 1;
      if (one.startMs < other.startMs !== one.heldMs <= other.heldMs) wrong += 1;
    }
  }
  return pairs === 0 ? 0 : (100 * wrong) / pairs;
};

/** Starts them, a few at a time, and waits for all ends. */
const runAll = async (cloud: SagaCloud, sagaIds: readonly string[], resource: (id: string) => string) => {
  const began = performance.now();
  const left = [...sagaIds];
  const starter = async (): Promise<void> => {
    for (let sagaId = left.shift(); sagaId !== undefined; sagaId = left.shift()) {
      const given = { resource: resource(sagaId), workMs: WORK_MS };
      const plan = { steps: [{ id: 'take', tool: 'take', arguments: given }] };
      await cloud.invoke('start-saga', { sagaId, plan, input: {}, requestedBy: 'bench', project: 'bench' });
    }
  };
  await Promise.all(Array.from({ length: STARTS_AT_ONCE }, starter));
  for (const sagaId of sagaIds) {
    const name = await cloud.ended(sagaId);
    if (name !== 'saga.completed') throw new Error(`${sagaId} ended with ${name}`);
  }
  return performance.now() - began;
};

export const measureContention = async (cloud: SagaCloud, sagas: number): Promise<Contention> => {
  const named = (kind: string) => Array.from({ length: sagas }, (_, n) => `${kind}-${n}`);
  const freeWallMs = await runAll(cloud, named('free'), (id) => id);
  const ids = named('one');
  const wallMs = await runAll(cloud, ids, () => 'the only one');
  const held = await Promise.all(ids.map(async (id) => heldOf(await cloud.rows(id))));
  const waits = held.map(({ startMs, heldMs }) => heldMs - startMs);
  return {
    sagas,
    wallMs,
    freeWallMs,
    waits: { median: quantile(waits, 0.5), longest: Math.max(...waits) },
    turnedPercent: turned(held),
  };
};
