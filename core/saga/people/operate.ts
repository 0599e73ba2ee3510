/** What operators may do: cancel a saga, and work what a failed compensation left (S7, S11). */
import type { SagaStatus } from '../../../contract/saga-answers.ts';
import type { OperateSagaInput } from '../../../contract/saga-inputs.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { MAX_FACTS } from '../decide/decide.ts';
import { isResidue } from '../decide/decide-undo.ts';
import type { SagaEvent } from '../decide/saga-events.ts';
import type { PinnedStep, SagaHead } from '../model.ts';
import type { AdvanceDependencies, SagaStore } from '../ports.ts';
import { move } from '../run/advance.ts';
import { revive } from '../run/revive.ts';
import { wake } from './answer.ts';

type Dependencies = Pick<AdvanceDependencies, 'store' | 'engine' | 'clock'>;

const refuse = (message: string): never => {
  throw new WalkbackError('OperationRefused', message);
};

const cancelEvent =
  (request: OperateSagaInput) =>
  (head: SagaHead): SagaEvent | undefined => {
    if (head.state.status === 'COMPLETED') {
      refuse(`Saga ${head.sagaId} is completed; a finished saga is not undone by cancelling it.`);
    }
    if (head.state.phase !== 'forward' || head.state.cancelRequested) return undefined;
    return { type: 'cancel', ...(request.evidence === undefined ? {} : { evidence: request.evidence }) };
  };

/** Effects an action means: the named step, or for `retry` the failed compensations, as many of the last as one move holds. */
const chosen = (head: SagaHead, request: OperateSagaInput, step: PinnedStep | undefined): number[] => {
  const { effects } = head.state;
  const open = effects.flatMap((effect, index) => (isResidue(effect) ? [index] : []));
  const named = step === undefined ? open : open.filter((index) => effects[index]?.step === step.index);
  if (request.action !== 'retry') return named;
  return named.filter((index) => effects[index]?.status === 'undo_failed').slice(-MAX_FACTS);
};

/** This very action was recorded before: the same request again changes nothing. */
const isDone = (
  head: SagaHead,
  action: OperateSagaInput['action'],
  step: PinnedStep | undefined,
): boolean => {
  const done = action === 'resolve' ? 'resolved' : action === 'skip' ? 'skipped' : 'undone';
  return (
    step !== undefined &&
    head.state.effects.some((effect) => effect.step === step.index && effect.status === done)
  );
};

const findStep = async (store: SagaStore, head: SagaHead, stepId: string): Promise<PinnedStep> => {
  for (const index of new Set(head.state.effects.map((effect) => effect.step))) {
    const step = await store.getPinnedStep(head.sagaId, head.planHash, index);
    if (step.id === stepId) return step;
  }
  throw new WalkbackError('StepNotFound', `Saga ${head.sagaId} has not started a step ${stepId}.`);
};

const operateEvent =
  (request: OperateSagaInput & { action: 'retry' | 'resolve' | 'skip' }, step: PinnedStep | undefined) =>
  (head: SagaHead): SagaEvent | undefined => {
    if (isDone(head, request.action, step)) return undefined;
    if (head.state.status !== 'COMPENSATION_FAILED') {
      return refuse(`Saga ${head.sagaId} is ${head.state.status}; only a failed compensation can be worked.`);
    }
    const effects = chosen(head, request, step);
    if (effects.length === 0) {
      return refuse(
        request.action === 'retry'
          ? 'No failed compensator to retry here; what nothing takes back is resolved by hand or skipped.'
          : `Step ${request.stepId ?? ''} has nothing left to work.`,
      );
    }
    const evidence = request.evidence === undefined ? {} : { evidence: request.evidence };
    return { type: 'operate', action: request.action, effects, ...evidence };
  };

const checkRequest = (request: OperateSagaInput): void => {
  if ((request.action === 'resolve' || request.action === 'skip') && request.stepId === undefined) {
    throw new WalkbackError('InvalidInput', `stepId: ${request.action} needs the step it is about.`);
  }
  if ((request.action === 'resolve' || request.action === 'skip') && (request.evidence ?? '').trim() === '') {
    const what = request.action === 'resolve' ? 'evidence of what was done by hand' : 'a reason';
    throw new WalkbackError('InvalidInput', `evidence: ${request.action} needs ${what}.`);
  }
};

/** A command is worth nothing while nobody drives the saga: however often its executions died, it gets one now. */
const ensureDriven = async (dependencies: Dependencies, head: SagaHead, by: string): Promise<void> => {
  if (head.state.phase === 'done') return;
  const seen = await dependencies.engine.look(head.sagaId, head.state.generation);
  if (seen !== 'running') await revive(dependencies, head, seen, by);
};

/**
 * Cancel is recorded and carried out by the execution that drives the saga; the other actions hand a saga whose
 * compensation failed to a new execution. Repeating a request changes nothing. Throws `OperationRefused`.
 */
export const createOperate =
  (dependencies: Dependencies) =>
  async (request: OperateSagaInput): Promise<{ sagaId: string; status: SagaStatus }> => {
    checkRequest(request);
    const { store, engine } = dependencies;
    const head = await store.getHead(request.sagaId);
    if (head === undefined) throw new WalkbackError('SagaNotFound', `There is no saga ${request.sagaId}.`);
    const { action } = request;
    if (action === 'cancel') {
      const moved = await move(dependencies, request.sagaId, cancelEvent(request), request.by);
      await wake(dependencies, request.sagaId);
      await ensureDriven(dependencies, moved.head, request.by);
      return { sagaId: request.sagaId, status: moved.head.state.status };
    }
    const step = request.stepId === undefined ? undefined : await findStep(store, head, request.stepId);
    const moved = await move(
      dependencies,
      request.sagaId,
      operateEvent({ ...request, action }, step),
      request.by,
    );
    if (moved.head.state.phase !== 'done') await engine.start(request.sagaId, moved.head.state.generation);
    return { sagaId: request.sagaId, status: moved.head.state.status };
  };
