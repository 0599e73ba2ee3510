/** Lists the locks of open sagas, and who waits for them. */
import type { LocksAnswer } from '../../../contract/saga-answers.ts';
import type { ListLocksInput } from '../../../contract/saga-inputs.ts';
import { requireNone } from '../../shared/cursor.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { Clock } from '../../shared/surroundings.ts';
import { OPEN_STATUSES, type SagaHead } from '../model/head.ts';
import { createSagaPages } from '../plan/page-sagas.ts';
import type { SagaStore } from '../ports.ts';
import { waitsFor } from './look.ts';

const MOST_WAITING = 20;
const DEFAULT_LIMIT = 50;

type Lock = LocksAnswer['locks'][number];

const waitingFor = async (store: SagaStore, semaphore: string): Promise<string[]> => {
  const waiting: string[] = [];
  for await (const ticket of store.permits.line(semaphore)) {
    const head = await store.getHead(ticket.sagaId);
    if (head !== undefined && waitsFor(head.state).includes(semaphore)) waiting.push(ticket.sagaId);
    if (waiting.length >= MOST_WAITING) break;
  }
  return waiting;
};

const locksOf = async (store: SagaStore, { sagaId, state }: SagaHead): Promise<Lock[]> => {
  const mayHold = state.locked === true || state.effects.some(({ children }) => children === true);
  if (!mayHold) return [];
  const locks: Lock[] = [];
  for (const { semaphore, fencingToken } of await store.permits.heldBy(sagaId)) {
    // What it held may have been broken, and granted to another since.
    const permit = (await store.permits.granted(semaphore)).find(
      (one) => one.holder === sagaId && one.fencingToken === fencingToken,
    );
    if (permit === undefined) continue;
    const { label: resourceKey, since } = permit;
    const waiting = await waitingFor(store, semaphore);
    locks.push({ sagaId, status: state.status, resourceKey, since, fencingToken, waiting });
  }
  return locks;
};

const pageOpen = createSagaPages('locks', OPEN_STATUSES);

/**
 * A page looks at `limit` sagas, so it may list fewer locks, or none. Whoever reads all gets every lock that is held all the while; those
 * of a saga that changed its status meanwhile are told again at the end.
 */
export const createListLocks =
  ({ store, clock }: { store: SagaStore; clock: Pick<Clock, 'now'> }) =>
  async ({ sagaId, limit = DEFAULT_LIMIT, cursor }: ListLocksInput): Promise<LocksAnswer> => {
    if (sagaId !== undefined) {
      requireNone(cursor);
      const head = await store.getHead(sagaId);
      if (head === undefined) throw new WalkbackError('SagaNotFound', `There is no saga ${sagaId}.`);
      return { locks: await locksOf(store, head) };
    }
    const { items, ...next } = await pageOpen({ store, clock }, limit, cursor);
    // The index may be behind.
    const heads = items.filter(({ state }) => OPEN_STATUSES.includes(state.status));
    return { locks: (await Promise.all(heads.map((head) => locksOf(store, head)))).flat(), ...next };
  };
