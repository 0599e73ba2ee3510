import type { Observation } from '../../../contract/saga-observation.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { Clock } from '../../shared/surroundings.ts';
import { readTrueLedger } from '../entries/read-ledger.ts';
import type { SagaHead } from '../model/head.ts';
import type { SagaStore } from '../ports.ts';
import { awaitsBelow, observeFamily } from './family-view.ts';
import { isOver, settledView } from './settled-view.ts';

const POLL_MS = 250;
/**
 * Longest pause between two looks. Callers that have waited long learn of the end a little later, so that a
 * thousand of them do not keep the table busy.
 */
const LONGEST_POLL_MS = 5_000;
const SHARE_OF_WAIT = 8;
const POLLS_PER_TREE = 8;

/** Nothing more happens by itself: the saga has ended, or needs a person. */
const isSettled = ({ state: { status, wait } }: SagaHead): boolean =>
  status === 'AWAITING' || status === 'PARKED' || wait?.kind === 'next-step' || isOver(status);

/**
 * Answers the observation. With `waitSeconds`, it waits until the saga has ended or needs a person, or the
 * time is up. Where the settled view is asked for, a completed child also waits until this holds for its
 * root. Throws `SagaNotFound`, and `LedgerBroken` rather than answer anything that disagrees with the ledger
 * (S12).
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
    /**
     * If the root is over before everything else is read, and has not moved afterwards, it took nothing back
     * meanwhile.
     */
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
    /** What a completed child did counts only once its root is over, so the root is waited for. */
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
