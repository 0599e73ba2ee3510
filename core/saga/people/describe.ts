import type { Observation } from '../../../contract/saga-answers.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { Clock } from '../../shared/surroundings.ts';
import { readTrueLedger } from '../ledger/read-ledger.ts';
import type { SagaHead } from '../model/head.ts';
import type { SagaStore } from '../ports.ts';
import { awaitsBelow, observeFamily } from './family-view.ts';
import { isOver, settledView } from './settled-view.ts';

const POLL_MS = 250;
/** Who has waited for long is told a little later, so that a thousand who wait do not keep the table busy. */
const LONGEST_POLL_MS = 5_000;
const SHARE_OF_WAIT = 8;
const POLLS_PER_TREE = 8;

/** Nothing more happens by itself: there is a result, or a person is needed. */
const isSettled = ({ state: { status, wait } }: SagaHead): boolean =>
  status === 'AWAITING' || status === 'PARKED' || wait?.kind === 'next-step' || isOver(status);

/**
 * Answers the observation. With `waitSeconds`, it waits until the saga has ended or needs a person, or the
 * time is up; where the settled view is asked for, a completed child until that is so of its root. Throws `SagaNotFound`.
 * Throws `LedgerBroken` rather than answer anything that disagrees with the ledger (S12).
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
    const see = async (head: SagaHead): Promise<Observation> =>
      observeFamily(store, head, await readTrueLedger(store, head));
    /** A root that is over before all else is read, and did not move until then, takes nothing back meanwhile. */
    const seeSettled = async ({ root = sagaId }: SagaHead): Promise<Observation> => {
      const above = root === sagaId ? undefined : await store.getHead(root);
      const head = await look();
      const before = root === sagaId ? head : above;
      const seen = await see(head);
      const after = await store.getHead(root);
      const isRootOver =
        before !== undefined && isOver(before.state.status) && before.version === after?.version;
      return settledView(seen, isRootOver);
    };
    /** What a completed child did counts when its root is over, so that one is waited for. */
    const awaited = async (head: SagaHead): Promise<SagaHead> => {
      const isProvisional = projection === 'settled' && head.state.status === 'COMPLETED';
      return (isProvisional && head.root !== undefined && (await store.getHead(head.root))) || head;
    };
    let left = waitSeconds * 1000;
    let head = await look();
    for (let polls = 0; left > 0; polls += 1) {
      const last = await awaited(head);
      // A tree has many heads, so it is looked at less often.
      if (isSettled(last) || (polls % POLLS_PER_TREE === 0 && (await awaitsBelow(store, last)))) break;
      const waited = waitSeconds * 1000 - left;
      const pause = Math.min(left, Math.max(POLL_MS, Math.min(waited / SHARE_OF_WAIT, LONGEST_POLL_MS)));
      await clock.sleep(pause);
      left -= pause;
      head = await look();
    }
    return projection === 'settled' ? seeSettled(head) : see(head);
  };
