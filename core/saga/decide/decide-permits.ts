/** Decides about locks and slots before a step: take them, wait for them, or give up (L8, L9). */
import type { Fact, SagaError } from '../model/ledger-entry.ts';
import { isOlder, type Look } from '../model/permit.ts';
import type { SagaState, Wait } from '../model/state.ts';
import { LOCK_PATIENCE_MS, LOCK_RECHECK_MS } from '../model/timing.ts';
import { refusedFacts } from './decide-interactive.ts';
import { stepFact } from './facts.ts';
import type { LockLook, SagaEvent, SlotLook, Step, Surroundings } from './saga-events.ts';

const granted = (look: Look): { number: number; fencingToken: number } => {
  if (look.state === 'busy') throw new RangeError('a permit that another root holds cannot be taken');
  return { number: look.number, fencingToken: look.fencingToken + 1 };
};

const isBusy = ({ look }: LockLook): boolean => look.state === 'busy';

/**
 * Waits in line, or gives up after waiting long enough. No fact when the saga already waits under the same
 * terms.
 */
const waitFor = (state: SagaState, locks: readonly LockLook[], around: Surroundings): Fact[] => {
  const [first] = locks.filter(isBusy);
  if (first === undefined || first.look.state !== 'busy') return [];
  const { step, resourceKey } = first;
  const { behind } = first.look;
  const mayDeadlock = locks.some((lock) => isBusy(lock) && lock.mayDeadlock);
  const wait = state.wait?.kind === 'resource' ? state.wait : null;
  if (mayDeadlock && wait?.untilMs != null && around.nowMs >= wait.untilMs) {
    const why = isOlder(behind, first.root) ? 'began earlier' : 'waits for a slot, which this one has';
    const error: SagaError = {
      name: 'ResourceBusy',
      message: `Saga ${behind.sagaId} works on ${resourceKey}, and ${why}. Start this one again later.`,
    };
    return refusedFacts(state, step, error);
  }
  if (wait !== null && (wait.untilMs !== null) === mayDeadlock) return [];
  return [
    {
      direction: 'lock',
      status: 'waiting',
      ...stepFact(step, state.epoch),
      semaphores: locks.map(({ semaphore }) => semaphore),
      resourceKey,
      behind: behind.sagaId,
      since: first.root.startedAt,
      untilMs: mayDeadlock ? around.nowMs + LOCK_PATIENCE_MS : null,
    },
  ];
};

/** Takes the slot, or stands in line for it. */
export const slotFact = ({ semaphore, look }: SlotLook): Fact =>
  look.state === 'busy'
    ? { direction: 'slot', status: 'queued', semaphore }
    : { direction: 'slot', status: 'taken', semaphore, ...granted(look) };

const lockFact = (state: SagaState, { step, semaphore, resourceKey, look }: LockLook): Fact => ({
  direction: 'lock',
  status: 'taken',
  ...stepFact(step, state.epoch),
  semaphore,
  resourceKey,
  fencingToken: granted(look).fencingToken,
});

/**
 * Takes what a step needs before it starts. `isReady`: nothing stands in the way. A saga that waits for a
 * lock takes no slot, so that those who have one can always go on.
 */
export const takePermits = (
  state: SagaState,
  { lock, slot }: { lock?: LockLook; slot?: SlotLook },
  around: Surroundings,
): { facts: Fact[]; isReady: boolean } => {
  if (lock !== undefined && isBusy(lock)) {
    return { facts: waitFor(state, [lock], around), isReady: false };
  }
  const facts = slot === undefined ? [] : [slotFact(slot)];
  if (slot?.look.state === 'busy') return { facts, isReady: false };
  if (lock?.look.state === 'free') facts.push(lockFact(state, lock));
  return { facts, isReady: true };
};

/** The fencing token that the tool is given. */
export const fencingTokenOf = (lock: LockLook | undefined): { fencingToken?: number } => {
  if (lock === undefined || lock.look.state === 'busy') return {};
  const { state, fencingToken } = lock.look;
  return { fencingToken: state === 'mine' ? fencingToken : fencingToken + 1 };
};

/**
 * Takes all locks that are known from the input, or none: a saga that has not begun holds nothing while it
 * waits.
 */
export const startLocks = (
  state: SagaState,
  { locks, slot }: SagaEvent & { type: 'locks-prepared' },
  around: Surroundings,
): Fact[] => {
  const isDue =
    state.locking === true &&
    state.phase === 'forward' &&
    (state.wait === null || state.wait.kind === 'resource');
  if (!isDue) return [];
  if (locks.some(isBusy)) return waitFor(state, locks, around);
  const slotFacts = slot === undefined ? [] : [slotFact(slot)];
  if (slot?.look.state === 'busy') return slotFacts;
  return [...slotFacts, ...locks.map((lock) => lockFact(state, lock))];
};

/** The saga is in line for a lock. It looks again when it is woken, and from time to time. */
export const progressResource = (
  state: SagaState,
  wait: Extract<Wait, { kind: 'resource' }>,
  around: Surroundings,
): Step => {
  if (around.hasLooked !== true) {
    return {
      next: state.locking === true ? { next: 'prepare-locks' } : { next: 'prepare', step: wait.step },
    };
  }
  const againMs = around.nowMs + LOCK_RECHECK_MS;
  return {
    next: { next: 'await', step: wait.step, untilMs: Math.min(wait.untilMs ?? againMs, againMs) },
  };
};

/** A slot was granted from outside. The saga goes on in a new execution. */
export const admitFacts = (state: SagaState, { slot }: SagaEvent & { type: 'admit' }): Fact[] => {
  if (state.wait?.kind !== 'slot' || slot.look.state === 'busy') return [];
  return [
    slotFact(slot),
    { direction: 'saga', status: 'resumed', generation: state.generation + 1, reason: 'its turn came' },
  ];
};

export const breakLockFacts = ({
  semaphore,
  resourceKey,
  evidence,
}: SagaEvent & { type: 'break-lock' }): Fact[] => [
  { direction: 'lock', status: 'broken', semaphore, resourceKey, evidence },
];
