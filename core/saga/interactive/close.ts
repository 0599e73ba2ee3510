/** Ends an interactive saga: all of it stands, or all of it is taken back. */
import type { SagaStatus } from '../../../contract/saga-answers.ts';
import type { CloseSagaInput } from '../../../contract/saga-inputs.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { isCancellable } from '../decide/decide-control.ts';
import type { SagaEvent } from '../decide/saga-events.ts';
import type { SagaHead } from '../model/head.ts';
import { ensureDriven } from '../people/ensure-driven.ts';
import { createHandBack } from '../permits/hand-back.ts';
import type { AdvanceDependencies } from '../ports.ts';
import { move } from '../run/move.ts';
import { wake } from '../run/wake.ts';
import { interactiveHead, policyOf, requireWaiting } from './accepting.ts';

type Dependencies = Pick<AdvanceDependencies, 'store' | 'engine' | 'clock'>;

const completing = (head: SagaHead, reason: { reason?: string }): SagaEvent | undefined => {
  if (head.state.status === 'COMPLETED') return undefined;
  requireWaiting(head);
  return { type: 'close', ...reason };
};

const unwinding = (head: SagaHead, evidence: { evidence?: string }): SagaEvent | undefined => {
  const { sagaId, state } = head;
  if (state.status === 'COMPLETED') {
    throw new WalkbackError(
      'SagaClosed',
      `Saga ${sagaId} was closed, and what it did stands; only an operator may undo it.`,
    );
  }
  return isCancellable(state) ? { type: 'cancel', ...evidence } : undefined;
};

/**
 * `unwind` is also taken while a step is in flight; it is settled first. The same again changes nothing. Throws
 * `StepInProgress`, `SagaUnwinding` and `SagaClosed`.
 */
export const createCloseSaga = (dependencies: Dependencies) => {
  const handBack = createHandBack(dependencies);
  return async ({
    sagaId,
    outcome,
    reason,
  }: CloseSagaInput): Promise<{ sagaId: string; status: SagaStatus }> => {
    const { requestedBy } = await interactiveHead(dependencies.store, sagaId);
    const event = (head: SagaHead): SagaEvent | undefined => {
      policyOf(head);
      return outcome === 'complete'
        ? completing(head, reason === undefined ? {} : { reason })
        : unwinding(head, reason === undefined ? {} : { evidence: reason });
    };
    const { head } = await move(dependencies, sagaId, event, requestedBy);
    await handBack(head);
    if (outcome === 'unwind') {
      await wake(dependencies, sagaId);
      await ensureDriven(dependencies, head, requestedBy);
    }
    return { sagaId, status: head.state.status };
  };
};
