/** Finds out for `decide` how the locks and the slot of a saga stand. */
import { WalkbackError } from '../../shared/errors.ts';
import type { LockLook, SagaEvent, SlotLook } from '../decide/saga-events.ts';
import type { SagaHead } from '../model/head.ts';
import type { Fact } from '../model/ledger-entry.ts';
import { isOlder, lockOf, rootOf, slotsOf } from '../model/permit.ts';
import type { PinnedToolStep } from '../model/plan.ts';
import type { SagaState } from '../model/state.ts';
import type { Reading } from '../prepare/reading.ts';
import { lookAt, rootHead } from './look.ts';
import { closesKnot, type KnotLooking } from './slot-knot.ts';

/**
 * At most this many of the keys that are known from the input are locked before the first step, in one
 * transaction.
 */
export const MAX_START_LOCKS = 20;

const lockFor = async (
  looking: KnotLooking,
  head: SagaHead,
  step: PinnedToolStep,
  resourceKey: string,
): Promise<LockLook> => {
  const root = await rootHead(looking, head);
  const me = rootOf(root);
  const semaphore = lockOf(root.project, resourceKey);
  const look = await lookAt(looking, semaphore, me);
  const mayDeadlock =
    look.state === 'busy' &&
    ((isOlder(look.behind, me) && (await looking.store.permits.heldBy(me.sagaId)).length > 0) ||
      (await closesKnot(looking, root, look.behind.sagaId)));
  return { step, semaphore, resourceKey, look, root: me, mayDeadlock };
};

/** Undefined when the saga has a slot or needs none. Only roots have slots. */
const slotFor = async (
  looking: KnotLooking,
  head: SagaHead,
  state: SagaState,
): Promise<SlotLook | undefined> => {
  if (head.maxConcurrent === undefined || state.slot !== null) return undefined;
  const semaphore = slotsOf(head.project ?? '');
  return { semaphore, look: await lookAt(looking, semaphore, rootOf(head), { size: head.maxConcurrent }) };
};

/** The same move may have taken the lock for an earlier step. Then the lock is not stored yet. */
const takenJustNow = (
  fresh: readonly Fact[],
  head: SagaHead,
  step: PinnedToolStep,
  resourceKey: string,
): LockLook | undefined => {
  for (const fact of fresh) {
    if (fact.direction !== 'lock' || fact.status !== 'taken' || fact.resourceKey !== resourceKey) continue;
    const { semaphore, fencingToken } = fact;
    const look = { state: 'mine' as const, number: 0, fencingToken };
    return { step, semaphore, resourceKey, look, root: rootOf(head), mayDeadlock: false };
  }
  return undefined;
};

/** A step that is ready to start, with the lock and the slot that it needs. */
export const withPermits = async (
  { store, head }: Reading,
  state: SagaState,
  fresh: readonly Fact[],
  event: SagaEvent,
): Promise<SagaEvent> => {
  if (event.type !== 'prepared') return event;
  const { step, resourceKey } = event;
  const isExclusive = step.kind !== 'children' && step.exclusive === true && resourceKey !== undefined;
  const lock = isExclusive
    ? (takenJustNow(fresh, head, step, resourceKey) ?? (await lockFor({ store }, head, step, resourceKey)))
    : undefined;
  const slot = await slotFor({ store }, head, state);
  return { ...event, ...(lock === undefined ? {} : { lock }), ...(slot === undefined ? {} : { slot }) };
};

/** The exclusive resources that the first entry names. */
export const prepareLocks = async (
  reading: Reading,
  state: SagaState,
): Promise<SagaEvent & { type: 'locks-prepared' }> => {
  const { store, head } = reading;
  const first = await store.getEntry(head.sagaId, 0);
  const wanted = first?.direction === 'saga' && first.status === 'started' ? (first.locks ?? []) : [];
  if (wanted.length === 0 || wanted.length > MAX_START_LOCKS) {
    throw new WalkbackError('LedgerBroken', `The first entry of saga ${head.sagaId} names no locks to take.`);
  }
  const locks = await Promise.all(
    wanted.map(async ({ stepIndex, resourceKey }) => {
      const step = await reading.step(stepIndex, state);
      if (step.kind === 'children') throw new RangeError(`step ${step.id} takes no lock itself`);
      return lockFor({ store }, head, step, resourceKey);
    }),
  );
  const slot = await slotFor({ store }, head, state);
  return { type: 'locks-prepared', locks, ...(slot === undefined ? {} : { slot }) };
};
