/** Ends an interactive saga: all of it stands, or all of it is taken back. */
import type { Json } from '../../../contract/json.ts';
import type { ClosedSaga } from '../../../contract/saga-answers.ts';
import type { CloseSagaInput } from '../../../contract/saga-inputs.ts';
import { canonicalJson } from '../../shared/canonical-json.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { jsonBytes } from '../../shared/json-bytes.ts';
import { isCancellable } from '../decide/decide-control.ts';
import type { SagaEvent } from '../decide/saga-events.ts';
import type { SagaHead } from '../model/head.ts';
import { MAX_RESULT_BYTES } from '../model/tool.ts';
import type { AdvanceDependencies } from '../ports.ts';
import { ensureDriven } from '../run/ensure-driven.ts';
import { createHandBack } from '../run/hand-back.ts';
import { move } from '../run/move.ts';
import { tellMachine, warned } from '../run/tell-machine.ts';
import { wake } from '../run/wake.ts';
import { interactiveHead, policyOf, requireWaiting } from './accepting.ts';

type Dependencies = Pick<AdvanceDependencies, 'store' | 'engine' | 'clock' | 'log'>;

/**
 * Finds the result of a completed saga. Entries may follow the one that completed it: sealing, and locks that
 * were broken.
 */
const resultOf = async (
  { store }: Pick<Dependencies, 'store'>,
  { sagaId, seq }: SagaHead,
): Promise<Json | undefined> => {
  for (let at = seq - 1; at > 0; at -= 1) {
    const entry = await store.getEntry(sagaId, at);
    if (entry?.direction === 'saga' && entry.status === 'completed') return entry.output;
  }
  return undefined;
};

const requireSame = async (dependencies: Dependencies, head: SagaHead, result: Json): Promise<void> => {
  const known = await resultOf(dependencies, head);
  if (known !== undefined && canonicalJson(known) === canonicalJson(result)) return;
  throw new WalkbackError(
    'RequestConflict',
    `Saga ${head.sagaId} was completed with another result, or with none; that one stands.`,
  );
};

type Told = Pick<CloseSagaInput, 'reason' | 'result'>;

const completing = async (
  dependencies: Dependencies,
  head: SagaHead,
  { reason, result }: Told,
): Promise<SagaEvent | undefined> => {
  if (head.state.status === 'COMPLETED') {
    if (result !== undefined) await requireSame(dependencies, head, result);
    return undefined;
  }
  requireWaiting(head);
  return {
    type: 'close',
    ...(reason === undefined ? {} : { reason }),
    ...(result === undefined ? {} : { result }),
  };
};

const checkResult = ({ outcome, result }: CloseSagaInput): void => {
  if (result === undefined) return;
  if (outcome === 'unwind') {
    throw new WalkbackError('InvalidInput', 'result: a saga that is taken back has none; leave it out.');
  }
  if (jsonBytes(result) <= MAX_RESULT_BYTES) return;
  throw new WalkbackError(
    'InvalidInput',
    `result: takes more than ${MAX_RESULT_BYTES} bytes; pass a reference instead.`,
  );
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
 * `unwind` is accepted also while a step is in flight; that step is settled first. The same request again
 * changes nothing. A parent that waits for this saga looks again. Throws `StepInProgress`, `SagaUnwinding`,
 * `SagaClosed` and `RequestConflict`.
 */
export const createCloseSaga = (dependencies: Dependencies) => {
  const handBack = createHandBack(dependencies);
  return async (request: CloseSagaInput): Promise<ClosedSaga> => {
    const { sagaId, outcome, reason } = request;
    checkResult(request);
    const { requestedBy } = await interactiveHead(dependencies.store, sagaId);
    const event = async (head: SagaHead): Promise<SagaEvent | undefined> => {
      policyOf(head);
      return outcome === 'complete'
        ? completing(dependencies, head, request)
        : unwinding(head, reason === undefined ? {} : { evidence: reason });
    };
    const { head } = await move(dependencies, sagaId, event, requestedBy);
    const warnings = await tellMachine(dependencies, sagaId, async () => {
      await handBack(head);
      if (outcome === 'complete' && head.parent !== undefined) await wake(dependencies, head.parent.sagaId);
      if (outcome === 'unwind') {
        await wake(dependencies, sagaId);
        await ensureDriven(dependencies, head, requestedBy);
      }
    });
    return { sagaId, status: head.state.status, ...warned(warnings) };
  };
};
