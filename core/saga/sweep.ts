/** Finds sagas whose execution died, and starts them again from the ledger (S11). */
import type { Clock, Log } from '../ports.ts';
import { move } from './advance.ts';
import type { SagaHead, SagaStatus } from './model.ts';
import type { SagaEngine, SagaStore } from './ports.ts';

const OPEN: SagaStatus[] = ['RUNNING', 'AWAITING', 'COMPENSATING', 'PAUSED'];

/** An answer that was recorded this long ago and still moved nothing: its wake-up was lost. */
const LOST_WAKE_MS = 60_000;

/** So many executions in a row without any progress: a person must look. */
const MAX_RESUMES = 8;

export interface SweepReport {
  looked: number;
  resumed: string[];
  woken: string[];
  /** Given up on: they die each time without progress. */
  stuck: string[];
}

export interface SweepDependencies {
  store: SagaStore;
  engine: SagaEngine;
  clock: Clock;
  log: Log;
}

const wakeLost = async ({ store, engine, clock }: SweepDependencies, head: SagaHead): Promise<boolean> => {
  const idleMs = clock.now().getTime() - Date.parse(head.updatedAt);
  if (head.state.wait !== null || idleMs < LOST_WAKE_MS) return false;
  const waiting = await store.getToken(head.sagaId);
  return waiting?.generation === head.state.generation && (await engine.wake(waiting.token));
};

const sweepOne = async (
  dependencies: SweepDependencies,
  head: SagaHead,
  report: SweepReport,
): Promise<void> => {
  const { engine } = dependencies;
  const { sagaId, state } = head;
  const seen = await engine.look(sagaId, state.generation);
  if (seen === 'running') {
    if (await wakeLost(dependencies, head)) report.woken.push(sagaId);
    return;
  }
  if (seen === 'missing') {
    await engine.start(sagaId, state.generation);
    report.resumed.push(sagaId);
    return;
  }
  if (state.resumes >= MAX_RESUMES) {
    dependencies.log.warn('saga is stuck', { sagaId, generation: state.generation });
    report.stuck.push(sagaId);
    return;
  }
  const same = (now: SagaHead) =>
    now.state.generation === state.generation && now.state.phase !== 'done'
      ? { type: 'resume' as const, reason: 'its execution ended' }
      : undefined;
  const moved = await move(dependencies, sagaId, same, 'sweeper');
  if (moved.entries.length === 0) return;
  await engine.start(sagaId, moved.head.state.generation);
  report.resumed.push(sagaId);
};

/** Looks at every open saga, or at one. Running it twice at once is harmless (S9). */
export const makeSweep =
  (dependencies: SweepDependencies) =>
  async (only?: string): Promise<SweepReport> => {
    const { store } = dependencies;
    const report: SweepReport = { looked: 0, resumed: [], woken: [], stuck: [] };
    const look = async (head: SagaHead | undefined) => {
      if (head === undefined || !OPEN.includes(head.state.status)) return;
      report.looked += 1;
      await sweepOne(dependencies, head, report);
    };
    if (only !== undefined) {
      await look(await store.getHead(only));
      return report;
    }
    for (const status of OPEN) {
      let cursor: string | undefined;
      do {
        const page = await store.listHeadsByStatus(status, 50, cursor);
        // The index may be behind: what counts is the head as it is now.
        for (const item of page.items) await look(await store.getHead(item.sagaId));
        cursor = page.cursor;
      } while (cursor !== undefined);
    }
    return report;
  };
