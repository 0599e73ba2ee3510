/** Finds who gave a saga a step: whoever rewound it with a plan of their own, when that plan holds the step. */
import { planHashAt } from '../decide/plan-in-force.ts';
import { readLedger } from '../entries/read-ledger.ts';
import type { SagaHead } from '../model/head.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import type { SagaStore } from '../ports.ts';

interface StepPosition {
  head: SagaHead;
  index: number;
  epoch: number;
}

/** Only a root is rewound. For a saga below, this is the step of the root that led to it. */
const positionInRoot = async (
  store: Pick<SagaStore, 'getHead' | 'getEntry'>,
  place: StepPosition,
): Promise<StepPosition | undefined> => {
  const { parent } = place.head;
  if (parent === undefined) return place;
  const [head, entry] = await Promise.all([
    store.getHead(parent.sagaId),
    store.getEntry(parent.sagaId, parent.seq),
  ]);
  if (head === undefined || entry === undefined || !('stepIndex' in entry)) return undefined;
  return positionInRoot(store, { head, index: entry.stepIndex, epoch: entry.epoch });
};

/**
 * The entries of the rewinds that brought the plan of this step. None when the step belongs to the plan that
 * the saga started with.
 */
export const rewindsThatBrought = async (
  store: Pick<SagaStore, 'getHead' | 'getEntry' | 'pageEntries'>,
  head: SagaHead,
  index: number,
): Promise<LedgerEntry[]> => {
  const place = await positionInRoot(store, { head, index, epoch: head.state.epoch });
  if (place?.head.state.plans === undefined) return [];
  const { sagaId, seq, state } = place.head;
  const planHash = planHashAt(place.head, state, place.index, place.epoch);
  const entries = await readLedger(store, sagaId, seq);
  return entries.filter((entry) => entry.status === 'rewind_requested' && entry.plan?.planHash === planHash);
};
