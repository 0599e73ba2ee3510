/**
 * Finds the pinned step at an index, whether it comes from the start, a rewind or a submission. No other file
 * does this.
 */
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

/** Where a step is looked for: the state of a move, and the epoch in which the step is or was started. */
interface StepPosition {
  state: SagaState;
  index: number;
  epoch: number;
}

/**
 * The hash under which a submitted step is pinned: from the state for the last step, from the step's start
 * entry for the others.
 */
const pinOf = async (store: Reads, sagaId: string, { state, index }: StepPosition) => {
  if (state.submitted?.index === index) return state.submitted;
  const effect = state.effects.find(({ step }) => step === index);
  const entry = effect && (await store.getEntry(sagaId, effect.startSeq));
  if (entry?.direction !== 'forward' || entry.status !== 'started' || entry.planHash === undefined) {
    throw broken(sagaId, index);
  }
  return { step: entry.step, planHash: entry.planHash };
};

/** Throws `LedgerBroken` when the step is not the one that was pinned. */
export const stepOfSaga = async (store: Reads, head: SagaHead, place: StepPosition): Promise<PinnedStep> => {
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
