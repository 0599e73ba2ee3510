/**
 * Takes back all sagas of a session that came after a checkpoint. Those that run are stopped at once. Those
 * that are completed are undone one after the other, the last one first. A failure stops it.
 */
import type { PlacedSaga } from '../checkpoint/ports/effects.ts';
import { isUndoable } from '../saga/decide/effects.ts';
import type { SagaHead } from '../saga/model/head.ts';
import { ensureDriven } from '../saga/people/ensure-driven.ts';
import { sessionSagas } from '../saga/people/session-effects.ts';
import { move } from '../saga/run/move.ts';
import { wake } from '../saga/run/wake.ts';
import type { TakeBackDependencies } from './ports.ts';

export type TakenBack = 'done' | 'undoing' | 'stopped';

const POLL_MS = 250;

interface Order {
  sessionId: string;
  isAfter: (saga: PlacedSaga) => boolean;
  acceptResidue: boolean;
  by: string;
  reason: string;
}

/** Nothing of it is left to take back, or nothing takes it back and that was accepted. */
const isSettled = ({ state: { status, effects } }: SagaHead): boolean =>
  status === 'COMPENSATED' || (status === 'COMPLETED' && !effects.some(isUndoable));

const isStopped = ({ state }: SagaHead): boolean => state.status === 'COMPENSATION_FAILED';
const isForward = ({ state }: SagaHead): boolean => state.phase === 'forward' && !state.cancelRequested;

/** Records it, if it is not, and has it driven. Doing it twice changes nothing. */
const tell = async (
  dependencies: TakeBackDependencies,
  { sagaId }: SagaHead,
  order: Order,
): Promise<void> => {
  const { acceptResidue, by, reason } = order;
  const event = { type: 'undo' as const, acceptResidue, evidence: reason };
  const turnable = (now: SagaHead) =>
    isForward(now) || now.state.status === 'COMPLETED' ? event : undefined;
  const { head } = await move(dependencies, sagaId, turnable, by);
  await wake(dependencies, sagaId);
  await ensureDriven(dependencies, head, by);
};

/** One look at all of them: tells those whose turn it is. */
const advance = async (dependencies: TakeBackDependencies, order: Order): Promise<TakenBack> => {
  const { store } = dependencies;
  // Children are taken back by their roots.
  const all = await sessionSagas(store, order.sessionId, order.isAfter);
  const sagas = all.filter(({ parent }) => parent === undefined);
  for (const head of sagas.filter(isForward)) await tell(dependencies, head, order);
  const open = sagas.filter((head) => !isSettled(head));
  const last = open.at(-1);
  if (last === undefined) return 'done';
  if (open.some(({ state }) => state.phase !== 'done')) return 'undoing';
  if (open.some(isStopped)) return 'stopped';
  await tell(dependencies, last, order);
  return 'undoing';
};

/** Goes on until all are taken back, one cannot be, or the time is up. */
export const takeBackSagas = async (
  dependencies: TakeBackDependencies,
  order: Order,
  waitMs: number,
): Promise<TakenBack> => {
  let taken = await advance(dependencies, order);
  for (let leftMs = waitMs; leftMs > 0 && taken === 'undoing'; leftMs -= POLL_MS) {
    await dependencies.clock.sleep(Math.min(leftMs, POLL_MS));
    taken = await advance(dependencies, order);
  }
  return taken;
};
