import type { Observation } from '../../../contract/saga-answers.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { Clock } from '../../shared/surroundings.ts';
import { readTrueLedger } from '../ledger/read-ledger.ts';
import { type SagaHead, TERMINAL_STATUSES } from '../model/head.ts';
import type { SagaStore } from '../ports.ts';
import { observe } from './observation.ts';
import { settledView } from './settled-view.ts';

const POLL_MS = 250;

/** Nothing more happens by itself: there is a result, or a person is needed. */
const isSettled = ({ state: { status, wait } }: SagaHead): boolean =>
  status === 'AWAITING' ||
  status === 'PARKED' ||
  wait?.kind === 'next-step' ||
  TERMINAL_STATUSES.some((one) => one === status);

/**
 * Answers the observation. With `waitSeconds`, it waits until the saga has ended or needs a person, or the
 * time is up. Throws `SagaNotFound`. Throws `LedgerBroken` rather than answer anything that disagrees with
 * the ledger (S12).
 */
export const createDescribe =
  ({ store, clock }: { store: SagaStore; clock: Pick<Clock, 'sleep'> }) =>
  async (
    sagaId: string,
    waitSeconds = 0,
    projection: 'present' | 'settled' = 'present',
  ): Promise<Observation> => {
    const look = async (): Promise<SagaHead> => {
      const head = await store.getHead(sagaId);
      if (head === undefined) throw new WalkbackError('SagaNotFound', `There is no saga ${sagaId}.`);
      return head;
    };
    let left = waitSeconds * 1000;
    let head = await look();
    while (!isSettled(head) && left > 0) {
      const pause = Math.min(left, POLL_MS);
      await clock.sleep(pause);
      left -= pause;
      head = await look();
    }
    const seen = observe(head, await readTrueLedger(store, head));
    return projection === 'settled' ? settledView(seen) : seen;
  };
