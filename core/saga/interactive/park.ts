/**
 * Puts interactive sagas aside, to save what is done when a budget is spent; and takes them up again. Effects stand and
 * locks are kept. The files of the session are saved first, so that the saga's entry says where they are.
 */
import type { Actor } from '../../../contract/identity.ts';
import type { ParkedSaga, ParkedSagas, SagaStatus } from '../../../contract/saga-answers.ts';
import type { ParkSagaInput } from '../../../contract/saga-inputs.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { isWalkbackError, WalkbackError } from '../../shared/errors.ts';
import type { SagaEvent } from '../decide/saga-events.ts';
import type { SagaHead } from '../model/head.ts';
import { sessionSagas } from '../people/session-sagas.ts';
import { createHandBack } from '../permits/hand-back.ts';
import type { AdvanceDependencies, SagaStore } from '../ports.ts';
import { move } from '../run/move.ts';
import { interactiveHead, requireWaiting } from './accepting.ts';

export interface ParkDependencies extends Pick<AdvanceDependencies, 'store' | 'engine' | 'clock'> {
  /** Takes a checkpoint of a session, and answers its id. */
  saveFiles?: (
    asked: { sessionId: string; messageId?: string | undefined; requestId?: string | undefined },
    invocation: Invocation,
  ) => Promise<string>;
}

type Moved = { sagaId: string; status: SagaStatus };
type Told = Pick<ParkSagaInput, 'summary' | 'sessionId' | 'checkpointId'>;

const isParked = ({ state }: SagaHead): boolean => state.wait?.kind === 'parked';

const isOpen = ({ state }: SagaHead): boolean =>
  state.interactive !== undefined &&
  state.interactive.single !== true &&
  state.phase === 'forward' &&
  !state.cancelRequested;

/** The session that submitted the last step, or started the saga when none did. */
const ownerOf = async (store: SagaStore, { sagaId, sessionId }: SagaHead): Promise<string | undefined> => {
  const entries = await store.listEntries(sagaId);
  const last = entries.findLast((entry) => entry.status === 'submitted' && entry.sessionId !== undefined);
  return last?.status === 'submitted' ? last.sessionId : sessionId;
};

/** The checkpoint that was named when it was parked. */
const savedAt = async (store: SagaStore, { sagaId }: SagaHead): Promise<{ checkpointId?: string }> => {
  const entry = (await store.listEntries(sagaId)).findLast(({ status }) => status === 'parked');
  return entry?.status === 'parked' && entry.checkpointId !== undefined
    ? { checkpointId: entry.checkpointId }
    : {};
};

/**
 * Between two steps only, so that nothing is in flight; else `StepInProgress`. A saga that is parked already stays as
 * it is, and the answer names its checkpoint again. With a session alone: every interactive saga that it works on, and one that cannot be parked says why.
 */
export const createParkSaga = (dependencies: ParkDependencies) => {
  const { store } = dependencies;
  const handBack = createHandBack(dependencies);

  const parkOne = async (sagaId: string, told: Told): Promise<Moved> => {
    const { requestedBy } = await interactiveHead(store, sagaId);
    const event = (head: SagaHead): SagaEvent | undefined => {
      if (isParked(head)) return undefined;
      requireWaiting(head);
      return { type: 'park', ...told };
    };
    const { head } = await move(dependencies, sagaId, event, requestedBy);
    // Also of one that was parked before: who parked it may have died here.
    await handBack(head);
    return { sagaId, status: head.state.status };
  };

  /** What cannot be saved does not keep the saga from being parked: it is said. Another request under its id is refused. */
  const save = async (
    sessionId: string | undefined,
    { checkpoint = true, checkpointId, messageId, requestId }: ParkSagaInput,
    invocation: Invocation,
  ): Promise<{ checkpointId?: string; warnings: string[] }> => {
    if (checkpointId !== undefined) return { checkpointId, warnings: [] };
    const { saveFiles } = dependencies;
    if (!checkpoint || sessionId === undefined || saveFiles === undefined) return { warnings: [] };
    try {
      return { checkpointId: await saveFiles({ sessionId, messageId, requestId }, invocation), warnings: [] };
    } catch (error) {
      if (!(error instanceof WalkbackError) || error.name === 'RequestConflict') throw error;
      return {
        warnings: [`No checkpoint of session ${sessionId} was taken: ${error.name}: ${error.message}`],
      };
    }
  };

  const toldOf = ({ summary, sessionId }: ParkSagaInput, checkpointId: string | undefined): Told => ({
    summary,
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(checkpointId === undefined ? {} : { checkpointId }),
  });

  const parkSaga = async (
    sagaId: string,
    request: ParkSagaInput,
    invocation: Invocation,
  ): Promise<ParkedSagas> => {
    const head = await interactiveHead(store, sagaId);
    if (!isParked(head)) requireWaiting(head);
    const saved = isParked(head)
      ? { ...(await savedAt(store, head)), warnings: [] }
      : await save(request.sessionId ?? head.sessionId, request, invocation);
    const moved = await parkOne(sagaId, toldOf(request, saved.checkpointId));
    return { ...moved, sagas: [moved], ...saved };
  };

  const parkSession = async (
    sessionId: string,
    request: ParkSagaInput,
    invocation: Invocation,
  ): Promise<ParkedSagas> => {
    const saved = await save(sessionId, request, invocation);
    const told = toldOf(request, saved.checkpointId);
    const sagas: ParkedSaga[] = [];
    for (const { sagaId, state, ...rest } of (await sessionSagas(store, sessionId)).filter(isOpen)) {
      if ((await ownerOf(store, { sagaId, state, ...rest })) !== sessionId) continue;
      try {
        sagas.push(await parkOne(sagaId, told));
      } catch (error) {
        if (!isWalkbackError(error)) throw error;
        const { name, message } = error;
        sagas.push({ sagaId, status: state.status, error: { name, message } });
      }
    }
    return { sagas, ...saved };
  };

  return async (request: ParkSagaInput, invocation: Invocation): Promise<ParkedSagas> => {
    const { sagaId, sessionId } = request;
    if (sagaId !== undefined) return parkSaga(sagaId, request, invocation);
    if (sessionId !== undefined) return parkSession(sessionId, request, invocation);
    throw new WalkbackError('InvalidInput', 'sagaId: name a saga, or a session with all that it works on.');
  };
};

/** An operator has it wait for its next step again, whoever submits that. */
export const resumeParked = async (
  dependencies: Pick<AdvanceDependencies, 'store' | 'clock'>,
  sagaId: string,
  by: Actor,
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
