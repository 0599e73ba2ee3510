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
import { isFinal, isUndoable } from '../saga/decide/effects.ts';
import type { SagaEvent } from '../saga/decide/saga-events.ts';
import { readTrueLedger } from '../saga/entries/read-ledger.ts';
import type { SagaHead } from '../saga/model/head.ts';
import { isIdle } from '../saga/model/state.ts';
import { ifUnmoved } from '../saga/people/planned.ts';
import { residueKeys } from '../saga/people/residue.ts';
import { treePlanOf } from '../saga/people/tree-plan.ts';
import { ensureDriven } from '../saga/run/ensure-driven.ts';
import { move } from '../saga/run/move.ts';
import { tellMachine } from '../saga/run/tell-machine.ts';
import { wake } from '../saga/run/wake.ts';
import {
  type LastSteps,
  nothingFound,
  type SagaCache,
  type SagaSince,
  sagasSince,
} from '../saga/view/session-sagas.ts';
import { storiesOf } from '../saga/view/stories.ts';
import { hashJson } from '../shared/canonical-json.ts';
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
  /** Why it may stay. */
  reason?: string;
  /** Keys of what was accepted. Without it all of it was, also what came since. */
  accepted?: ReadonlySet<string>;
  guidance?: string;
  by: Actor;
  /** Whether the rewind has ended. */
  isThrough: () => Promise<boolean>;
}

/** Nothing of the saga is left to take back. */
const isSettled = ({ head: { state }, steps }: SagaSince): boolean =>
  state.status === 'COMPENSATED' ||
  (steps === undefined
    ? state.status === 'COMPLETED' && !state.effects.some(isUndoable)
    : !steps.isLeft && state.phase !== 'undo');

/** An order as one call carries it out. */
interface Looking extends Order {
  /** Of heads that were looked at, whether they are beyond return: those at rest are looked at again and again. */
  beyond: WeakMap<SagaHead, boolean>;
}

/** All that is left of it is what nothing takes back. Of last steps that counts as left. */
const onlyStands = (one: SagaSince): boolean =>
  one.steps === undefined && isSettled(one) && one.head.state.effects.some(isFinal);

const isStopped = ({ head: { state } }: SagaSince): boolean => state.status === 'COMPENSATION_FAILED';

/**
 * The saga may act at any moment. An interactive saga that began before the point and waits for a step does
 * not: it is taken back when its turn comes.
 */
const runs = ({ head: { state }, steps }: SagaSince): boolean =>
  state.phase === 'forward' && !state.cancelRequested && (steps === undefined || !isIdle(state.wait));

/** The reason in the ledger of a saga, which does not know the request of its session. */
const reasonOf = ({ requestId, reason }: Order): string =>
  reason === undefined ? `rewind ${requestId}` : `rewind ${requestId}: ${reason}`;

const undoEvent = (order: Order, acceptResidue: boolean) => ({
  type: 'undo' as const,
  acceptResidue,
  evidence: reasonOf(order),
});

/**
 * The request id depends on the epoch: a late agent may have submitted a step since, which needs another
 * rewind.
 */
const rewindEvent = (
  order: Order,
  head: SagaHead,
  { after, floor, cursor }: LastSteps,
  acceptResidue: boolean,
): SagaEvent => {
  const { requestId, sessionId, guidance } = order;
  const target = { after, floor, cursor };
  return {
    type: 'rewind',
    requestId: `session-${sha256Hex(`${sessionId} ${requestId}`).slice(0, 40)}-${head.state.epoch}`,
    requestHash: hashJson({ sessionId, requestId, ...target }),
    ...target,
    ...(guidance === undefined ? {} : { guidance }),
    ...(acceptResidue ? { acceptResidue, reason: reasonOf(order) } : {}),
  };
};

/** Since the rewind was planned, the saga did something that cannot be taken back and that nobody accepted. */
const isBeyondReturn = async (
  { store }: TakeBackDependencies,
  { acceptResidue, accepted, beyond }: Looking,
  { head, steps }: SagaSince,
): Promise<boolean> => {
  if (acceptResidue && accepted === undefined) return false;
  const known = beyond.get(head);
  if (known !== undefined) return known;
  const { sagaId } = head;
  const entries = await readTrueLedger(store, head);
  const stories = storiesOf(head, entries).slice(steps?.floor ?? 0);
  const plan = await treePlanOf(store, sagaId, entries, stories);
  const keys = residueKeys([{ sagaId, plan }]);
  const isBeyond = acceptResidue ? keys.some((key) => accepted?.has(key) !== true) : keys.length > 0;
  beyond.set(head, isBeyond);
  return isBeyond;
};

/** Of one that is stopped as it goes, which may have done more since it was planned. */
const mayLeave = async (
  dependencies: TakeBackDependencies,
  order: Looking,
  one: SagaSince,
): Promise<boolean> => order.acceptResidue && !(await isBeyondReturn(dependencies, order, one));

/** What it is told now. Undefined when it was told before, or moved since it was looked at. */
const eventFor = async (
  dependencies: TakeBackDependencies,
  order: Looking,
  one: SagaSince,
): Promise<(now: SagaHead) => SagaEvent | undefined | Promise<SagaEvent | undefined>> => {
  const { head, steps } = one;
  const { state } = head;
  if (steps !== undefined) {
    if (!isRewindable(state)) return () => undefined;
    return ifUnmoved(head, rewindEvent(order, head, steps, await mayLeave(dependencies, order, one)));
  }
  if (state.status === 'COMPLETED') return ifUnmoved(head, undoEvent(order, order.acceptResidue));
  // It moves all the time, so what it did is looked at as it is stopped.
  return async (now) =>
    now.state.phase === 'forward' && !now.state.cancelRequested
      ? undoEvent(order, await mayLeave(dependencies, order, { ...one, head: now }))
      : undefined;
};

/**
 * Records the command if it is not recorded yet, and makes sure that the saga is driven. Doing it twice
 * changes nothing.
 */
const tell = async (dependencies: TakeBackDependencies, one: SagaSince, order: Looking): Promise<void> => {
  const { sagaId } = one.head;
  const { head } = await move(dependencies, sagaId, await eventFor(dependencies, order, one), order.by);
  // What is recorded stands. When nobody can be told now, the next look or the sweeper tells it.
  await tellMachine(dependencies, sagaId, async () => {
    await wake(dependencies, sagaId);
    await ensureDriven(dependencies, head, order.by);
  });
};

/** Looks once at all of them, and gives the command to those whose turn it is. */
const look = async (
  dependencies: TakeBackDependencies,
  order: Looking,
  found: SagaCache,
): Promise<TakenBack> => {
  const sagas = await sagasSince(dependencies.store, order.sessionId, order.isAfter, found);
  const open: SagaSince[] = [];
  for (const one of sagas) {
    const isLeft = onlyStands(one) ? isBeyondReturn(dependencies, order, one) : !isSettled(one);
    if (await isLeft) open.push(one);
  }
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
  order: Looking,
  found: SagaCache,
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
  const looking = { ...order, beyond: new WeakMap<SagaHead, boolean>() };
  let taken = await advance(dependencies, looking, found);
  for (let leftMs = waitMs; leftMs > 0 && taken === 'undoing'; leftMs -= POLL_MS) {
    await dependencies.clock.sleep(Math.min(leftMs, POLL_MS));
    taken = await advance(dependencies, looking, found);
  }
  return taken;
};
