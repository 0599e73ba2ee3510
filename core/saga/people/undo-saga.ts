/** Undoes a saga that was completed: an operator's decision, with the plan before the act. */
import type { Asked } from '../../../contract/identity.ts';
import type { OperatedSaga } from '../../../contract/saga-answers.ts';
import type { OperateSagaInput } from '../../../contract/saga-inputs.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { SagaEvent } from '../decide/saga-events.ts';
import { readTrueLedger } from '../entries/read-ledger.ts';
import type { SagaHead } from '../model/head.ts';
import type { AdvanceDependencies } from '../ports.ts';
import { ensureDriven } from '../run/ensure-driven.ts';
import { move } from '../run/move.ts';
import { tellMachine, warned } from '../run/tell-machine.ts';
import { storiesOf } from '../view/stories.ts';
import { requireReturn } from '../view/undo-plan.ts';
import { requireFresh } from './identify.ts';
import { ifUnmoved, untilUnmoved } from './planned.ts';
import { requireSameResidue, residueOf } from './residue.ts';
import { treePlanOf } from './tree-plan.ts';

type Dependencies = Pick<AdvanceDependencies, 'store' | 'engine' | 'clock' | 'log'>;

/** The same undo is recorded already. The plan is then what is left to do. */
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

/** The answer, or undefined when the saga moved meanwhile and everything must be read again. */
const attempt = async (
  dependencies: Dependencies,
  request: Asked<OperateSagaInput>,
): Promise<OperatedSaga | undefined> => {
  const { store, clock } = dependencies;
  const { sagaId, by, evidence, dryRun = false, acceptResidue = false, residue } = request;
  const head = await store.getHead(sagaId);
  if (head === undefined) throw new WalkbackError('SagaNotFound', `There is no saga ${sagaId}.`);
  requireFinished(head);
  const entries = await readTrueLedger(store, head);
  const plan = await treePlanOf(store, sagaId, entries, storiesOf(head, entries));
  if (dryRun) return { sagaId, status: head.state.status, plan, residue: residueOf([{ sagaId, plan }]) };
  if (acceptResidue) requireFresh(by, clock);
  const tell = async (now: SagaHead) =>
    warned(await tellMachine(dependencies, sagaId, () => ensureDriven(dependencies, now, by)));
  if (isAsked(head)) return { sagaId, status: head.state.status, plan, ...(await tell(head)) };
  requireReturn(sagaId, plan, acceptResidue);
  if (acceptResidue) requireSameResidue([{ sagaId, plan }], residue);
  const event: SagaEvent = {
    type: 'undo',
    acceptResidue,
    ...(evidence === undefined ? {} : { evidence }),
  };
  const moved = await move(dependencies, sagaId, ifUnmoved(head, event), by);
  if (moved.entries.length === 0) return undefined;
  return { sagaId, status: moved.head.state.status, plan, ...(await tell(moved.head)) };
};

/**
 * Records the undo, and hands the saga to a new execution that carries it out. `dryRun` answers the plan and
 * writes nothing. Throws `OperationRefused`, and `PointOfNoReturn` and `ResidueChanged` before anything is
 * written.
 */
export const undoSaga = (
  dependencies: Dependencies,
  request: Asked<OperateSagaInput>,
): Promise<OperatedSaga> =>
  untilUnmoved(dependencies.clock, `undo of saga ${request.sagaId}`, () => attempt(dependencies, request));
