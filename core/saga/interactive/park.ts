/** Puts an interactive saga aside, to save what is done when a budget is spent; and takes it up again. */
import type { SagaStatus } from '../../../contract/saga-answers.ts';
import type { ParkSagaInput } from '../../../contract/saga-inputs.ts';
import type { SagaEvent } from '../decide/saga-events.ts';
import type { SagaHead } from '../model/head.ts';
import type { AdvanceDependencies } from '../ports.ts';
import { move } from '../run/move.ts';
import { interactiveHead, requireWaiting } from './accepting.ts';

type Dependencies = Pick<AdvanceDependencies, 'store' | 'clock'>;
type Moved = { sagaId: string; status: SagaStatus };

const isParked = ({ state }: SagaHead): boolean => state.wait?.kind === 'parked';

/**
 * Between two steps only, so that nothing is in flight; else `StepInProgress`. Effects stand and locks are kept.
 * A saga that is parked already stays as it is.
 */
export const createParkSaga =
  (dependencies: Dependencies) =>
  async ({ sagaId, ...told }: ParkSagaInput): Promise<Moved> => {
    const { requestedBy } = await interactiveHead(dependencies.store, sagaId);
    const event = (head: SagaHead): SagaEvent | undefined => {
      if (isParked(head)) return undefined;
      requireWaiting(head);
      return { type: 'park', ...told };
    };
    const { head } = await move(dependencies, sagaId, event, requestedBy);
    return { sagaId, status: head.state.status };
  };

/** An operator has it wait for its next step again, whoever submits that. */
export const resumeParked = async (
  dependencies: Dependencies,
  sagaId: string,
  by: string,
): Promise<Moved> => {
  await interactiveHead(dependencies.store, sagaId);
  const event = (head: SagaHead): SagaEvent | undefined => {
    if (isParked(head)) return { type: 'unpark' };
    requireWaiting(head);
    return undefined;
  };
  const { head } = await move(dependencies, sagaId, event, by);
  return { sagaId, status: head.state.status };
};
