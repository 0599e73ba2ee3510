/** Checks whether an interactive saga accepts what it is told now. Every refusal has an error name of its own. */
import { WalkbackError } from '../../shared/errors.ts';
import { isResumedBy } from '../decide/decide-interactive.ts';
import type { SagaHead } from '../model/head.ts';
import type { InteractivePolicy } from '../model/interactive.ts';
import { MAX_STEPS } from '../plan/plan-shape.ts';
import type { SagaStore } from '../ports.ts';

/** Throws `SagaNotFound` and `SagaNotInteractive`. */
export const interactiveHead = async (
  store: Pick<SagaStore, 'getHead'>,
  sagaId: string,
): Promise<SagaHead> => {
  const head = await store.getHead(sagaId);
  if (head === undefined) {
    throw new WalkbackError('SagaNotFound', `There is no saga ${sagaId}; check the id, or start it.`);
  }
  policyOf(head);
  return head;
};

export const policyOf = ({ sagaId, state }: SagaHead): InteractivePolicy => {
  if (state.interactive !== undefined) return state.interactive;
  throw new WalkbackError(
    'SagaNotInteractive',
    `Saga ${sagaId} has a plan and goes on by itself; start one with \`interactive\` to submit steps.`,
  );
};

const busyText = ({ state }: SagaHead): string => {
  const step = state.submitted?.step ?? 'the step before';
  if (state.wait?.kind === 'approval') return `Step ${step} waits for an approval.`;
  if (state.phase === 'undo') return `Step ${step} is being taken back.`;
  return `Step ${step} is not settled yet.`;
};

/** Throws unless the saga waits for its next step. */
export const requireWaiting = (head: SagaHead): void => {
  const { sagaId, state } = head;
  const { status } = state;
  if (status === 'COMPLETED' || status === 'COMPENSATED') {
    throw new WalkbackError('SagaClosed', `Saga ${sagaId} is ${status}; start another one.`);
  }
  if (status === 'COMPENSATION_FAILED') {
    throw new WalkbackError(
      'SagaUnwinding',
      `Something of saga ${sagaId} could not be taken back; an operator works it first.`,
    );
  }
  if (state.phase === 'undo' && state.rewind !== undefined && !state.cancelRequested) {
    throw new WalkbackError(
      'SagaUnwinding',
      `Saga ${sagaId} is being rewound. When that is through, look at it again and go on from what stands.`,
    );
  }
  if (state.cancelRequested || (state.phase === 'undo' && state.undoFrom === undefined)) {
    throw new WalkbackError('SagaUnwinding', `Saga ${sagaId} is being undone; start another one.`);
  }
  if (state.wait?.kind === 'next-step') return;
  if (state.wait?.kind === 'parked') {
    throw new WalkbackError(
      'SagaParked',
      `Saga ${sagaId} was put aside; resume it, or go on with it in another session (sessionId).`,
    );
  }
  throw new WalkbackError('StepInProgress', `${busyText(head)} Saga ${sagaId} takes one step at a time.`, {
    retryable: true,
  });
};

/** The same as `requireWaiting`, and checks that there is room for one more step. */
export const requireAccepting = (head: SagaHead, sessionId?: string): void => {
  if (!isResumedBy(head.state, sessionId)) requireWaiting(head);
  if (head.state.stepCount < MAX_STEPS) return;
  throw new WalkbackError(
    'PlanRefused',
    `Saga ${head.sagaId} has ${MAX_STEPS} steps, and holds no more; close it and start another one.`,
  );
};
