/** Undoes a saga that was completed: an operator's decision, with the plan before the act. */
import type { Asked } from '../../../contract/identity.ts';
import type { OperatedSaga } from '../../../contract/saga-answers.ts';
import type { OperateSagaInput } from '../../../contract/saga-inputs.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { SagaEvent } from '../decide/saga-events.ts';
import { readTrueLedger } from '../ledger/read-ledger.ts';
import type { SagaHead } from '../model/head.ts';
import type { AdvanceDependencies } from '../ports.ts';
import { move } from '../run/move.ts';
import { ensureDriven } from './ensure-driven.ts';
import { requireFresh } from './identify.ts';
import { storiesOf } from './stories.ts';
import { treePlanOf } from './tree-plan.ts';
import { requireReturn } from './undo-plan.ts';

type Dependencies = Pick<AdvanceDependencies, 'store' | 'engine' | 'clock'>;

/** The same undo is recorded already; then the plan is what is left of it. */
const isAsked = ({ state }: SagaHead): boolean =>
  state.undoRequested === true && state.status !== 'COMPLETED';

const requireFinished = (head: SagaHead): void => {
  if (head.parent !== undefined) {
    throw new WalkbackError(
      'OperationRefused',
      `Saga ${head.sagaId} is a step of ${head.parent.sagaId}; undo the saga without a parent: ${head.root ?? head.parent.sagaId}.`,
    );
  }
  if (head.state.status === 'COMPLETED' || isAsked(head)) return;
  throw new WalkbackError(
    'OperationRefused',
    `Saga ${head.sagaId} is ${head.state.status}; only a completed saga is undone. A running one is cancelled.`,
  );
};

const undoEvent =
  (request: Asked<OperateSagaInput>) =>
  (head: SagaHead): SagaEvent | undefined => {
    requireFinished(head);
    if (isAsked(head)) return undefined;
    const { evidence, acceptResidue = false } = request;
    return { type: 'undo', acceptResidue, ...(evidence === undefined ? {} : { evidence }) };
  };

/**
 * Records the undo, and hands the saga to a new execution that carries it out. `dryRun` answers the plan and
 * writes nothing. Throws `OperationRefused`, and `PointOfNoReturn` before anything is written.
 */
export const undoSaga = async (
  dependencies: Dependencies,
  request: Asked<OperateSagaInput>,
  head: SagaHead,
): Promise<OperatedSaga> => {
  const { sagaId, by, dryRun = false, acceptResidue = false } = request;
  requireFinished(head);
  const entries = await readTrueLedger(dependencies.store, head);
  const stories = storiesOf(head, entries);
  const plan = await treePlanOf(dependencies.store, sagaId, entries, stories);
  if (dryRun) return { sagaId, status: head.state.status, plan };
  // A completed saga does not move by itself, so the plan still holds when the undo is recorded.
  if (!isAsked(head)) requireReturn(sagaId, plan, acceptResidue);
  if (acceptResidue) requireFresh(by, dependencies.clock);
  const moved = await move(dependencies, sagaId, undoEvent(request), by);
  await ensureDriven(dependencies, moved.head, by);
  return { sagaId, status: moved.head.state.status, plan };
};
