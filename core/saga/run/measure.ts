/**
 * Measures for the alarms: how many sagas are open, the age of the oldest of them, and how many wait for
 * people. Reads only.
 */
import type { SagaStatus } from '../../../contract/saga-observation.ts';
import type { Clock } from '../../shared/surroundings.ts';
import { MOVING_STATUSES } from '../model/head.ts';
import type { SagaOutline, SagaStore } from '../ports.ts';

/** A wait is near its end when less than this share of it is left. */
const NEAR = 0.2;

/** A page is 1 MB at most, some 5,000 of the index. */
const PAGE = 5000;

export interface SagaGauges {
  UnfinishedSagas: number;
  /** Time since the oldest of them was started or last waited for a person. */
  OldestUnfinishedSeconds: number;
  AwaitingSagas: number;
  AwaitsNearTimeout: number;
  /** Failed sagas that no operator has worked on yet. */
  CompensationFailedSagas: number;
}

const isNearTimeout = ({ waitUntilMs, statusSince }: SagaOutline, nowMs: number): boolean =>
  waitUntilMs !== null && waitUntilMs - nowMs < (waitUntilMs - Date.parse(statusSince)) * NEAR;

export const createMeasureSagas =
  ({ store, clock }: { store: SagaStore; clock: Clock }) =>
  async (): Promise<SagaGauges> => {
    const nowMs = clock.now().getTime();
    const all = async (status: SagaStatus): Promise<SagaOutline[]> => {
      const outlines: SagaOutline[] = [];
      let cursor: string | undefined;
      do {
        const page = await store.listByStatus(status, PAGE, cursor);
        outlines.push(...page.items);
        cursor = page.cursor;
      } while (cursor !== undefined);
      return outlines;
    };
    // A running saga with a time in `waitUntilMs` waits for its next step, so it does not count until then.
    const running = (await all('RUNNING')).filter(({ waitUntilMs }) => (waitUntilMs ?? 0) <= nowMs);
    const others = await Promise.all(MOVING_STATUSES.filter((status) => status !== 'RUNNING').map(all));
    const moving = [...running, ...others.flat()];
    const [awaiting, failed] = await Promise.all([all('AWAITING'), all('COMPENSATION_FAILED')]);
    const ages = moving.map(({ statusSince }) => (nowMs - Date.parse(statusSince)) / 1000);
    return {
      UnfinishedSagas: moving.length,
      OldestUnfinishedSeconds: ages.reduce((oldest, age) => Math.max(oldest, age), 0),
      AwaitingSagas: awaiting.length,
      AwaitsNearTimeout: awaiting.filter((one) => isNearTimeout(one, nowMs)).length,
      CompensationFailedSagas: failed.length,
    };
  };
