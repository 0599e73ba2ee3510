/**
 * Parks interactive sagas, so that work is kept when a budget is spent, and resumes them. Effects stand and
 * locks are kept. The files of the session are saved first, so that the saga's entry says where they are.
 */
import type { Actor } from '../../../contract/identity.ts';
import type { ParkedSaga, ParkedSagas } from '../../../contract/saga-answers.ts';
import type { ParkSagaInput } from '../../../contract/saga-inputs.ts';
import type { SagaStatus } from '../../../contract/saga-observation.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { isWalkbackError, WalkbackError } from '../../shared/errors.ts';
import type { SagaEvent } from '../decide/saga-events.ts';
import type { SagaHead } from '../model/head.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import type { ParkRecord } from '../model/session-park.ts';
import type { AdvanceDependencies } from '../ports.ts';
import { createHandBack } from '../run/hand-back.ts';
import { move } from '../run/move.ts';
import { sessionSagas } from '../view/session-sagas.ts';
import { interactiveHead, requireWaiting } from './accepting.ts';

export interface ParkDependencies extends Pick<AdvanceDependencies, 'store' | 'engine' | 'clock'> {
  /** Takes a checkpoint of a session, and answers its id. */
  saveFiles?: (
    asked: { sessionId: string; messageId?: string | undefined; requestId?: string | undefined },
    invocation: Invocation,
  ) => Promise<string>;
}

type Moved = { sagaId: string; status: SagaStatus };
type Told = Pick<ParkSagaInput, 'summary' | 'sessionId' | 'checkpointId' | 'requestId'>;
type Parked = LedgerEntry & { status: 'parked' };
type Saved = { checkpointId?: string; warnings: string[] };

const isParked = ({ state }: SagaHead): boolean => state.wait?.kind === 'parked';

const isOpen = ({ state }: SagaHead): boolean => state.phase === 'forward' && !state.cancelRequested;

/** The session that submitted the last step, or started the saga when none did. */
const ownerOf = ({ sessionId }: SagaHead, entries: readonly LedgerEntry[]): string | undefined => {
  const last = entries.findLast((entry) => entry.status === 'submitted' && entry.sessionId !== undefined);
  return last?.status === 'submitted' ? last.sessionId : sessionId;
};

const parkings = (entries: readonly LedgerEntry[]): Parked[] =>
  entries.filter((entry): entry is Parked => entry.status === 'parked');

/** How the same request parked the saga, whatever became of the saga since. */
const parkedBy = (entries: readonly LedgerEntry[], requestId: string | undefined): Parked | undefined =>
  requestId === undefined ? undefined : parkings(entries).find((one) => one.requestId === requestId);

/**
 * Parks only between two steps, so that nothing is in flight; else throws `StepInProgress`. A saga that is
 * parked already stays parked, and the answer names its checkpoint again. The same holds for a saga that the
 * same request parked, even if it was resumed since.
 *
 * When only a session is named, this covers every interactive saga that it works on. The answer says why a
 * saga could not be parked.
 */
export const createParkSaga = (dependencies: ParkDependencies) => {
  const { store } = dependencies;
  const handBack = createHandBack(dependencies);

  const parkOne = async ({ sagaId, requestedBy }: SagaHead, told: Told): Promise<Moved> => {
    const event = async (head: SagaHead): Promise<SagaEvent | undefined> => {
      // Without an id, a further request cannot be told from a repeated one.
      if (isParked(head) && told.requestId === undefined) return undefined;
      if (parkedBy(await store.listEntries(sagaId), told.requestId) !== undefined) return undefined;
      if (!isParked(head)) requireWaiting(head);
      return { type: 'park', ...told };
    };
    const { head } = await move(dependencies, sagaId, event, requestedBy);
    // Also for a saga that was parked before: the call that parked it may have died here.
    await handBack(head);
    return { sagaId, status: head.state.status };
  };

  /**
   * Files that cannot be saved do not stop the parking: the answer says so. Another request under the same id
   * is refused.
   */
  const save = async (
    sessionId: string | undefined,
    { checkpoint = true, checkpointId, messageId, requestId }: ParkSagaInput,
    invocation: Invocation,
  ): Promise<Saved> => {
    if (checkpointId !== undefined) return { checkpointId, warnings: [] };
    const { saveFiles } = dependencies;
    if (!checkpoint || sessionId === undefined || saveFiles === undefined) return { warnings: [] };
    try {
      return { checkpointId: await saveFiles({ sessionId, messageId, requestId }, invocation), warnings: [] };
    } catch (error) {
      if (!isWalkbackError(error) || error.name === 'RequestConflict') throw error;
      return {
        warnings: [`No checkpoint of session ${sessionId} was taken: ${error.name}: ${error.message}`],
      };
    }
  };

  const toldOf = ({ summary, sessionId, requestId }: ParkSagaInput, { checkpointId }: Saved): Told => ({
    summary,
    ...(requestId === undefined ? {} : { requestId }),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(checkpointId === undefined ? {} : { checkpointId }),
  });

  const parkSaga = async (
    sagaId: string,
    request: ParkSagaInput,
    invocation: Invocation,
  ): Promise<ParkedSagas> => {
    const head = await interactiveHead(store, sagaId);
    const entries = await store.listEntries(sagaId);
    const known =
      parkedBy(entries, request.requestId) ?? (isParked(head) ? parkings(entries).at(-1) : undefined);
    if (known === undefined) requireWaiting(head);
    const saved =
      known === undefined
        ? await save(request.sessionId ?? head.sessionId, request, invocation)
        : {
            ...(known.checkpointId === undefined ? {} : { checkpointId: known.checkpointId }),
            warnings: [],
          };
    const moved = await parkOne(head, toldOf(request, saved));
    return { ...moved, sagas: [moved], ...saved };
  };

  /** Those that the session works on. */
  const sagasOf = async (sessionId: string): Promise<ParkRecord['sagas']> => {
    const found: ParkRecord['sagas'] = [];
    for (const head of await sessionSagas(store, sessionId)) {
      const { sagaId, seq, state } = head;
      if (state.interactive === undefined || state.interactive.single === true || !isOpen(head)) continue;
      if (ownerOf(head, await store.listEntries(sagaId)) === sessionId) found.push({ sagaId, seq });
    }
    return found;
  };

  const parkSession = async (
    sessionId: string,
    request: ParkSagaInput,
    invocation: Invocation,
  ): Promise<ParkedSagas> => {
    const { requestId } = request;
    const saved = await save(sessionId, request, invocation);
    const told = toldOf(request, saved);
    let meant = await sagasOf(sessionId);
    // A repeated request means those that it meant first.
    const record =
      requestId === undefined ? undefined : await store.createPark({ sessionId, requestId, sagas: meant });
    const isRepeat = record?.written === false;
    if (isRepeat) meant = record.existing?.sagas ?? meant;
    const sagas: ParkedSaga[] = [];
    for (const { sagaId, seq } of meant) {
      const head = await interactiveHead(store, sagaId);
      if (isRepeat) {
        const entries = await store.listEntries(sagaId);
        const wentOn = entries.some((entry) => entry.status === 'submitted' && entry.seq > seq);
        // It ended or took a step after the request had come, which had not put it aside.
        if (parkedBy(entries, requestId) === undefined && (!isOpen(head) || wentOn)) continue;
      }
      try {
        sagas.push(await parkOne(head, told));
      } catch (error) {
        if (!isWalkbackError(error)) throw error;
        const { name, message } = error;
        const { state } = await interactiveHead(store, sagaId);
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

/** An operator resumes a parked saga: it waits for its next step again, from whichever session. */
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
