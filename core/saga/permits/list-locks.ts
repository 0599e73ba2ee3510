/** Lists the locks of open sagas, and who waits for them. */
import type { LocksAnswer, SagaStatus } from '../../../contract/saga-answers.ts';
import type { ListLocksInput } from '../../../contract/saga-inputs.ts';
import { badCursor, requireGiven, requireNone } from '../../shared/cursor.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { OPEN_STATUSES, type SagaHead } from '../model/head.ts';
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

/** `STATUS`, where the next status begins, or `STATUS PAGE`, inside one. */
const parseCursor = (cursor: string | undefined): { status: SagaStatus; page?: string } => {
  const [first = 'COMPENSATION_FAILED'] = OPEN_STATUSES;
  if (cursor === undefined) return { status: first };
  const [name, page, ...rest] = cursor.split(' ');
  const status = OPEN_STATUSES.find((one) => one === name);
  if (status === undefined) throw badCursor();
  requireGiven(rest.length === 0 && (page !== undefined || status !== first));
  return { status, ...(page === undefined ? {} : { page }) };
};

/** A page looks at `limit` sagas, so it may list fewer locks, or none. */
export const createListLocks =
  ({ store }: { store: SagaStore }) =>
  async ({ sagaId, limit = DEFAULT_LIMIT, cursor }: ListLocksInput): Promise<LocksAnswer> => {
    if (sagaId !== undefined) {
      requireNone(cursor);
      const head = await store.getHead(sagaId);
      if (head === undefined) throw new WalkbackError('SagaNotFound', `There is no saga ${sagaId}.`);
      return { locks: await locksOf(store, head) };
    }
    const { status, page } = parseCursor(cursor);
    const heads = await store.listHeadsByStatus(status, limit, page);
    const locks = (await Promise.all(heads.items.map((head) => locksOf(store, head)))).flat();
    const after = OPEN_STATUSES[OPEN_STATUSES.indexOf(status) + 1];
    const next = heads.cursor === undefined ? after : `${status} ${heads.cursor}`;
    return { locks, ...(next === undefined ? {} : { cursor: next }) };
  };
