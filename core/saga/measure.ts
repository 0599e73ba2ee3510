/** What the alarms look at: how many sagas are open, the oldest of them, and what waits for people. Reads only. */
import type { Clock } from '../ports.ts';
import { MOVING_STATUSES, type SagaHead, type SagaStatus } from './model.ts';
import type { SagaStore } from './ports.ts';

/** A wait is near its end when less than this part of it is left. */
const NEAR = 0.2;

const PAGE = 100;

export interface SagaGauges {
  UnfinishedSagas: number;
  /** Since the oldest of them was started or last waited for a person. */
  OldestUnfinishedSeconds: number;
  AwaitingSagas: number;
  AwaitsNearTimeout: number;
  /** Not worked by an operator yet. */
  CompensationFailedSagas: number;
}

const isNearTimeout = ({ state, statusSince }: SagaHead, nowMs: number): boolean => {
  if (state.wait === null) return false;
  const { untilMs } = state.wait;
  return untilMs - nowMs < (untilMs - Date.parse(statusSince)) * NEAR;
};

export const makeMeasureSagas =
  ({ store, clock }: { store: SagaStore; clock: Clock }) =>
  async (): Promise<SagaGauges> => {
    const nowMs = clock.now().getTime();
    const all = async (status: SagaStatus): Promise<SagaHead[]> => {
      const heads: SagaHead[] = [];
      let cursor: string | undefined;
      do {
        const page = await store.listHeadsByStatus(status, PAGE, cursor);
        heads.push(...page.items);
        cursor = page.cursor;
      } while (cursor !== undefined);
      return heads;
    };
    const moving = (await Promise.all(MOVING_STATUSES.map(all))).flat();
    const [awaiting, failed] = await Promise.all([all('AWAITING'), all('COMPENSATION_FAILED')]);
    const ages = moving.map(({ statusSince }) => (nowMs - Date.parse(statusSince)) / 1000);
    return {
      UnfinishedSagas: moving.length,
      OldestUnfinishedSeconds: Math.max(0, ...ages),
      AwaitingSagas: awaiting.length,
      AwaitsNearTimeout: awaiting.filter((head) => isNearTimeout(head, nowMs)).length,
      CompensationFailedSagas: failed.length,
    };
  };
