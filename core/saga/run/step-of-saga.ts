/** The one place that finds the pinned step of an index, however the saga came by its steps. */
import { WalkbackError } from '../../shared/errors.ts';
import { planHashAt } from '../decide/plan-in-force.ts';
import type { SagaHead } from '../model/head.ts';
import type { PinnedStep } from '../model/plan.ts';
import type { SagaState } from '../model/state.ts';
import type { SagaStore } from '../ports.ts';

type Reads = Pick<SagaStore, 'getPinnedStep' | 'getSubmittedStep' | 'getEntry'>;

const broken = (sagaId: string, index: number): WalkbackError =>
  new WalkbackError(
    'LedgerBroken',
    `Step ${index} of saga ${sagaId} is not what was submitted. An operator runs \`walkback ledger verify ${sagaId}\`.`,
    { details: { sagaId } },
  );

/** Where a step is asked for: the state of a move, and the epoch in which the step is or was started. */
interface Place {
  state: SagaState;
  index: number;
  epoch: number;
}

/** What the ledger says a submitted step is pinned under: the state of the last one, the start of the others. */
const pinOf = async (store: Reads, sagaId: string, { state, index }: Place) => {
  if (state.submitted?.index === index) return state.submitted;
  const effect = state.effects.find(({ step }) => step === index);
  const entry = effect && (await store.getEntry(sagaId, effect.startSeq));
  if (entry?.direction !== 'forward' || entry.status !== 'started' || entry.planHash === undefined) {
    throw broken(sagaId, index);
  }
  return { step: entry.step, planHash: entry.planHash };
};

/** Throws `LedgerBroken` when it is not what was pinned. */
export const stepOfSaga = async (store: Reads, head: SagaHead, place: Place): Promise<PinnedStep> => {
  const { state, index, epoch } = place;
  if (state.interactive === undefined) {
    // The steps of a child are stored with the root.
    return store.getPinnedStep(head.root ?? head.sagaId, planHashAt(head, state, index, epoch), index);
  }
  const pin = await pinOf(store, head.sagaId, place);
  const submitted = await store.getSubmittedStep(head.sagaId, pin.step);
  if (submitted?.planHash !== pin.planHash || submitted.index !== index) throw broken(head.sagaId, index);
  return submitted.step;
};
