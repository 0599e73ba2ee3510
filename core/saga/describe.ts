import { WalkbackError } from '../errors.ts';
import type { Clock } from '../ports.ts';
import { TERMINAL_STATUSES } from './model.ts';
import { type Observation, observe } from './observation.ts';
import type { SagaStore } from './ports.ts';

const POLL_MS = 250;

/** Nothing more happens by itself: a result is there, or a person is needed. */
const isSettled = (seen: Observation): boolean =>
  seen.status === 'AWAITING' || TERMINAL_STATUSES.some((status) => status === seen.status);

/**
 * The observation; with `waitSeconds`, as soon as the saga has ended or waits for a person, or when the time is up.
 * Throws `SagaNotFound`.
 */
export const makeDescribe =
  ({ store, clock }: { store: SagaStore; clock: Pick<Clock, 'sleep'> }) =>
  async (sagaId: string, waitSeconds = 0): Promise<Observation> => {
    const look = async (): Promise<Observation> => {
      const head = await store.getHead(sagaId);
      if (head === undefined) throw new WalkbackError('SagaNotFound', `There is no saga ${sagaId}.`);
      const entries = await store.listEntries(sagaId);
      return observe(head, entries.slice(0, head.seq));
    };
    let left = waitSeconds * 1000;
    let seen = await look();
    while (!isSettled(seen) && left > 0) {
      const pause = Math.min(left, POLL_MS);
      await clock.sleep(pause);
      left -= pause;
      seen = await look();
    }
    return seen;
  };
