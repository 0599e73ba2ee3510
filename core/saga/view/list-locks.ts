/** Lists the locks of open sagas, and which sagas wait for them. */
import * as z from 'zod';
import type { ListLocksInput } from '../../../contract/saga-inputs.ts';
import type { LocksAnswer } from '../../../contract/saga-lists.ts';
import { type AnswerPage, createPage } from '../../shared/answer-size.ts';
import { mapAtOnce } from '../../shared/at-once.ts';
import { badCursor, sealed } from '../../shared/cursor.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { partOf } from '../../shared/fill-page.ts';
import type { Clock } from '../../shared/surroundings.ts';
import { OPEN_STATUSES, type SagaHead } from '../model/head.ts';
import type { Permit } from '../model/permit.ts';
import { waitsFor } from '../permits/look.ts';
import type { SagaStore } from '../ports.ts';
import { createSagaPages } from './page-sagas.ts';

const MOST_WAITING = 20;
/** Sagas that are read at once. */
const SAGAS = 50;

/** Most locks of a page. Each takes some reads, and one more for each saga in its line. */
const MOST_LOCKS = 500;
const LOCKS_AT_ONCE = 8;

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

/** Undefined when the lock was broken and has been granted to another saga since. */
const lockOf = async (
  store: SagaStore,
  { sagaId, state }: SagaHead,
  { semaphore, fencingToken }: Permit,
): Promise<Lock | undefined> => {
  const permit = (await store.permits.granted(semaphore)).find(
    (one) => one.holder === sagaId && one.fencingToken === fencingToken,
  );
  if (permit === undefined) return undefined;
  const { label: resourceKey, since } = permit;
  const waiting = await waitingFor(store, semaphore);
  return { sagaId, status: state.status, resourceKey, since, fencingToken, waiting };
};

/** The locks that a saga holds, in the order in which they are listed, from behind `after` on. */
const heldAfter = async (store: SagaStore, { sagaId, state }: SagaHead, after: string): Promise<Permit[]> => {
  const mayHold = state.locked === true || state.effects.some(({ children }) => children === true);
  if (!mayHold) return [];
  const held = (await store.permits.heldBy(sagaId)).filter(({ semaphore }) => semaphore > after);
  return held.toSorted((one, other) => (one.semaphore < other.semaphore ? -1 : 1));
};

/**
 * Adds the locks of one saga. If not all have room, answers the lock after which the page ended; empty when
 * none had room.
 */
const addLocks = async (
  store: SagaStore,
  page: AnswerPage<Lock>,
  head: SagaHead,
  after: string,
): Promise<string | undefined> => {
  const held = await heldAfter(store, head, after);
  let last = after;
  for (let from = 0; from < held.length; from += LOCKS_AT_ONCE) {
    if (page.isFull()) return last;
    const some = held.slice(from, from + LOCKS_AT_ONCE);
    const locks = await mapAtOnce(some, LOCKS_AT_ONCE, (permit) => lockOf(store, head, permit));
    for (const [at, { semaphore }] of some.entries()) {
      const lock = locks[at];
      if (lock !== undefined && !page.add(lock)) return last;
      last = semaphore;
    }
  }
  return undefined;
};

const locksOfSaga = async (
  store: SagaStore,
  page: AnswerPage<Lock>,
  sagaId: string,
  cursor: string | undefined,
): Promise<LocksAnswer> => {
  const seal = sealed(`locks of ${sagaId}`);
  const readAfter = (given: string): string => {
    const read = z.string().safeParse(seal.read(given));
    if (!read.success) throw badCursor(read.error);
    return read.data;
  };
  const after = cursor === undefined ? '' : readAfter(cursor);
  const head = await store.getHead(sagaId);
  if (head === undefined) throw new WalkbackError('SagaNotFound', `There is no saga ${sagaId}.`);
  const last = await addLocks(store, page, head, after);
  return { locks: page.items, ...(last === undefined ? {} : { cursor: seal.write(last) }) };
};

const pageOpen = createSagaPages('locks', OPEN_STATUSES);

/**
 * A page lists `limit` locks, unless the last saga was looked at or the time is over. It also ends earlier
 * when the answer has no room; the next page then continues in the same saga. A caller who reads all pages
 * gets every lock that is held the whole time. Locks of a saga that changes its status meanwhile come again
 * at the end.
 */
export const createListLocks =
  ({ store, clock }: { store: SagaStore; clock: Pick<Clock, 'now'> }) =>
  async ({ sagaId, limit = MOST_LOCKS, cursor }: ListLocksInput): Promise<LocksAnswer> => {
    const page = createPage<Lock>(Math.min(limit, MOST_LOCKS));
    if (sagaId !== undefined) return locksOfSaga(store, page, sagaId, cursor);
    const isOver = partOf(clock);
    let from = cursor;
    for (;;) {
      const { items, within, at, cursor: next } = await pageOpen({ store, clock }, SAGAS, from);
      for (const head of items) {
        // The index may lag behind.
        if (!OPEN_STATUSES.includes(head.state.status)) continue;
        const after = within?.sagaId === head.sagaId ? within.after : '';
        const last = await addLocks(store, page, head, after);
        if (last !== undefined) return { locks: page.items, cursor: at(head.sagaId, last) };
      }
      if (next === undefined) return { locks: page.items };
      if (page.isFull() || isOver()) return { locks: page.items, cursor: next };
      from = next;
    }
  };
