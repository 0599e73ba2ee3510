/**
 * Takes back what the sagas of a session did after a checkpoint: everything of the sagas that began after it,
 * and the last steps of an interactive saga that began before.
 *
 * A running saga is stopped at once. Those that are completed, or wait for their next step, are taken back
 * one after the other, the last one first. A failure stops the whole.
 */
import type { Actor } from '../../contract/identity.ts';
import type { PlacedSaga } from '../checkpoint/ports/effects.ts';
import { isRewindable } from '../saga/decide/decide-rewind.ts';
import { isUndoable } from '../saga/decide/effects.ts';
import type { SagaEvent } from '../saga/decide/saga-events.ts';
import { readTrueLedger } from '../saga/ledger/read-ledger.ts';
import type { SagaHead } from '../saga/model/head.ts';
import { isIdle } from '../saga/model/state.ts';
import { ensureDriven } from '../saga/people/ensure-driven.ts';
import { ifUnmoved } from '../saga/people/planned.ts';
import {
  type Found,
  type LastSteps,
  nothingFound,
  type SagaSince,
  sagasSince,
} from '../saga/people/session-sagas.ts';
import { storiesOf } from '../saga/people/stories.ts';
import { treePlanOf } from '../saga/people/tree-plan.ts';
import { hashJson } from '../saga/plan/json.ts';
import { move } from '../saga/run/move.ts';
import { wake } from '../saga/run/wake.ts';
import { sha256Hex } from '../shared/ids.ts';
import type { TakeBackDependencies } from './ports.ts';

/** `through`: another call of the same request has ended the rewind. */
export type TakenBack = 'done' | 'undoing' | 'stopped' | 'through';

const POLL_MS = 250;

interface Order {
  sessionId: string;
  requestId: string;
  isAfter: (saga: PlacedSaga) => boolean;
  acceptResidue: boolean;
  guidance?: string;
  by: Actor;
  /** Whether the rewind has ended. */
  isThrough: () => Promise<boolean>;
}

/** Nothing is left to take back, or what is left cannot be taken back and that was accepted. */
const isSettled = ({ head: { state }, steps }: SagaSince): boolean =>
  state.status === 'COMPENSATED' ||
  (steps === undefined
    ? state.status === 'COMPLETED' && !state.effects.some(isUndoable)
    : !steps.isLeft && state.phase !== 'undo');

const isStopped = ({ head: { state } }: SagaSince): boolean => state.status === 'COMPENSATION_FAILED';

/**
 * The saga may act at any moment. An interactive saga that began before the point and waits for a step does
 * not: it is taken back when its turn comes.
 */
const runs = ({ head: { state }, steps }: SagaSince): boolean =>
  state.phase === 'forward' && !state.cancelRequested && (steps === undefined || !isIdle(state.wait));

const undoEvent = ({ acceptResidue, requestId }: Order) => ({
  type: 'undo' as const,
  acceptResidue,
  evidence: `rewind ${requestId}`,
});

/**
 * The request id depends on the epoch: a late agent may have submitted a step since, which needs another
 * rewind.
 */
const rewindEvent = (order: Order, head: SagaHead, { after, floor, cursor }: LastSteps): SagaEvent => {
  const { requestId, sessionId, guidance, acceptResidue } = order;
  const target = { after, floor, cursor };
  return {
    type: 'rewind',
    requestId: `session-${sha256Hex(`${sessionId} ${requestId}`).slice(0, 40)}-${head.state.epoch}`,
    requestHash: hashJson({ sessionId, requestId, ...target }),
    ...target,
    ...(guidance === undefined ? {} : { guidance }),
    ...(acceptResidue ? { acceptResidue } : {}),
  };
};

/** The command to give it now. Undefined when it was given before, or when the saga moved since it was read. */
const eventFor = (order: Order, { head, steps }: SagaSince): ((now: SagaHead) => SagaEvent | undefined) => {
  const { state } = head;
  if (steps !== undefined) {
    return isRewindable(state) ? ifUnmoved(head, rewindEvent(order, head, steps)) : () => undefined;
  }
  if (state.status === 'COMPLETED') return ifUnmoved(head, undoEvent(order));
  return ({ state: { phase, cancelRequested } }) =>
    phase === 'forward' && !cancelRequested ? undoEvent(order) : undefined;
};

/** Since the rewind was planned, the saga did something that cannot be taken back and that nobody accepted. */
const isBeyondReturn = async (
  { store }: TakeBackDependencies,
  { acceptResidue }: Order,
  { head, steps }: SagaSince,
): Promise<boolean> => {
  if (acceptResidue) return false;
  const entries = await readTrueLedger(store, head);
  const stories = storiesOf(head, entries).slice(steps?.floor ?? 0);
  return (await treePlanOf(store, head.sagaId, entries, stories)).stands.length > 0;
};

/**
 * Records the command if it is not recorded yet, and makes sure that the saga is driven. Doing it twice
 * changes nothing.
 */
const tell = async (dependencies: TakeBackDependencies, one: SagaSince, order: Order): Promise<void> => {
  const { sagaId } = one.head;
  const { head } = await move(dependencies, sagaId, eventFor(order, one), order.by);
  await wake(dependencies, sagaId);
  await ensureDriven(dependencies, head, order.by);
};

/** Looks once at all of them, and gives the command to those whose turn it is. */
const look = async (dependencies: TakeBackDependencies, order: Order, found: Found): Promise<TakenBack> => {
  const sagas = await sagasSince(dependencies.store, order.sessionId, order.isAfter, found);
  const open = sagas.filter((one) => !isSettled(one));
  // Asked after the sagas were read: once the rewind has ended, open sagas belong to the way on.
  if (open.length > 0 && (await order.isThrough())) return 'through';
  const running = open.filter(runs);
  for (const one of running) await tell(dependencies, one, order);
  const last = open.at(-1);
  if (last === undefined) return 'done';
  if (running.length > 0 || open.some(({ head }) => isMoving(head))) return 'undoing';
  // From here on the saga moves, so it is read again each time.
  found.atRest.delete(last.head.sagaId);
  if (open.some(isStopped) || (await isBeyondReturn(dependencies, order, last))) return 'stopped';
  await tell(dependencies, last, order);
  return 'undoing';
};

/** Somebody may have moved a saga that was at rest. So this ends only after all of them were read again. */
const advance = async (
  dependencies: TakeBackDependencies,
  order: Order,
  found: Found,
): Promise<TakenBack> => {
  const isKnown = found.atRest.size > 0;
  const taken = await look(dependencies, order, found);
  if (taken === 'undoing' || taken === 'through' || !isKnown) return taken;
  found.atRest.clear();
  return look(dependencies, order, found);
};

/** The saga goes on by itself. */
const isMoving = ({ state }: SagaHead): boolean => state.phase !== 'done' && !isIdle(state.wait);

/** Continues until all are taken back, one cannot be taken back, or the time is up. */
export const takeBackSagas = async (
  dependencies: TakeBackDependencies,
  order: Order,
  waitMs: number,
): Promise<TakenBack> => {
  const found = nothingFound();
  let taken = await advance(dependencies, order, found);
  for (let leftMs = waitMs; leftMs > 0 && taken === 'undoing'; leftMs -= POLL_MS) {
    await dependencies.clock.sleep(Math.min(leftMs, POLL_MS));
    taken = await advance(dependencies, order, found);
  }
  return taken;
};
