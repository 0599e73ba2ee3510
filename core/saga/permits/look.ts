/**
 * How a semaphore stands for one root (L8, L9). A permit has no lease and no clock: it is held as long as the
 * head of its holder says so. So a lock cannot outlive its root, and cleaning up only saves time.
 */
import type { SagaHead } from '../model/head.ts';
import { isOlder, type Look, type Permit, type Root, rootOf } from '../model/permit.ts';
import type { SagaState } from '../model/state.ts';
import type { SagaStore } from '../ports.ts';

export interface Looking {
  store: Pick<SagaStore, 'getHead' | 'permits'>;
}

/** The semaphores that a saga stands in line for. */
export const waitsFor = (state: SagaState): readonly string[] => {
  switch (state.wait?.kind) {
    case 'resource':
    case 'slot':
      return state.wait.semaphores;
    default:
      return [];
  }
};

/**
 * Whether the root still has its lock. It gives the lock back by ending, but keeps it while effects of a
 * failed compensation stand.
 */
const keepsLock = (head: SagaHead | undefined): boolean =>
  head !== undefined && head.state.status !== 'COMPLETED' && head.state.status !== 'COMPENSATED';

/**
 * Whether the root still has this slot. It gives the slot back by ending, and while it waits for a person or
 * a lock.
 */
const keepsSlot = (head: SagaHead | undefined, number: number): boolean => head?.state.slot === number;

const isHeld = async ({ store }: Looking, permit: Permit, isLock: boolean): Promise<boolean> => {
  const head = await store.getHead(permit.holder);
  return isLock ? keepsLock(head) : keepsSlot(head, permit.number);
};

/**
 * The roots before `me` in the line that still wait there. Tickets of others are removed. A root that waits
 * for a lock of `me` is passed: it cannot go on before `me` ends.
 */
const aheadOf = async ({ store }: Looking, semaphore: string, me: Root, most: number): Promise<Root[]> => {
  const ahead: Root[] = [];
  let mine: Set<string> | undefined;
  for await (const ticket of store.permits.line(semaphore)) {
    if (!isOlder(ticket.root, me) || ahead.length >= most) break;
    const head = await store.getHead(ticket.sagaId);
    const waited = head === undefined ? [] : waitsFor(head.state);
    if (!waited.includes(semaphore)) {
      await store.permits.leave(ticket);
      continue;
    }
    mine ??= new Set((await store.permits.heldBy(me.sagaId)).map((permit) => permit.semaphore));
    if (!waited.some((one) => mine?.has(one))) ahead.push(ticket.root);
  }
  return ahead;
};

interface Free {
  number: number;
  fencingToken: number;
}

/**
 * Slots with a number beyond `size` that older roots hold, because their limit was higher. These count like
 * the slots within the limit. Slots of younger roots do not count; otherwise one after the other could keep
 * `me` waiting. Finds at most `most`, because each is a read.
 */
const heldBeyond = async (
  { store }: Looking,
  known: readonly Permit[],
  me: Root,
  { size, most }: { size: number; most: number },
): Promise<Permit[]> => {
  const held: Permit[] = [];
  for (const permit of known) {
    if (held.length >= most) break;
    if (permit.number < size || permit.holder === '' || permit.holder === me.sagaId) continue;
    const head = await store.getHead(permit.holder);
    if (head !== undefined && keepsSlot(head, permit.number) && isOlder(rootOf(head), me)) held.push(permit);
  }
  return held;
};

/**
 * The permits that nobody holds. Only a thorough look reads the heads of slots' holders to see whether they
 * still hold them.
 */
const freeOf = async (
  looking: Looking,
  known: readonly Permit[],
  me: Root,
  { size, isThorough }: { size: number | undefined; isThorough: boolean },
): Promise<{ free: Free[]; held?: Permit }> => {
  const isLock = size === undefined;
  const free: Free[] = [];
  let held: Permit | undefined;
  for (let number = 0; number < (size ?? 1); number += 1) {
    const permit = known.find((one) => one.number === number);
    if (permit === undefined) free.push({ number, fencingToken: 0 });
    else if (permit.holder === '' || permit.holder === me.sagaId) free.push(permit);
    else if ((!isLock && !isThorough) || (await isHeld(looking, permit, isLock))) held ??= permit;
    else free.push(permit);
  }
  const beyond = isLock ? [] : await heldBeyond(looking, known, me, { size, most: free.length });
  held ??= beyond[0];
  return {
    free: free.slice(0, free.length - beyond.length),
    ...(held === undefined ? {} : { held }),
  };
};

/**
 * `size`: permits of the semaphore; absent for a lock, which has one. A slot whose holder ended without
 * cleaning up is found by a thorough look only, because that reads a head for each slot.
 */
export const lookAt = async (
  looking: Looking,
  semaphore: string,
  me: Root,
  { size, isThorough = false }: { size?: number; isThorough?: boolean } = {},
): Promise<Look> => {
  const known = await looking.store.permits.granted(semaphore);
  const own = known.find(({ holder }) => holder === me.sagaId);
  if (own !== undefined && size === undefined) {
    return { state: 'mine', number: own.number, fencingToken: own.fencingToken };
  }
  const { free, held } = await freeOf(looking, known, me, { size, isThorough });
  if (free.length === 0 && held !== undefined) {
    const head = await looking.store.getHead(held.holder);
    const behind = head === undefined ? { sagaId: held.holder, startedAt: held.since } : rootOf(head);
    return { state: 'busy', behind };
  }
  const ahead = await aheadOf(looking, semaphore, me, free.length);
  const permit = free[ahead.length];
  if (permit !== undefined) {
    return { state: 'free', number: permit.number, fencingToken: permit.fencingToken };
  }
  const [behind = me] = ahead;
  return { state: 'busy', behind };
};

/** Descendants take locks in the name of their root, and of its project. */
export const rootHead = async ({ store }: Pick<Looking, 'store'>, head: SagaHead): Promise<SagaHead> =>
  head.root === undefined ? head : ((await store.getHead(head.root)) ?? head);

/** Whether a saga that waits for locks still has to wait. */
export const isStillBusy = async (looking: Looking, head: SagaHead): Promise<boolean> => {
  const me = rootOf(await rootHead(looking, head));
  for (const semaphore of waitsFor(head.state)) {
    const { state } = await lookAt(looking, semaphore, me);
    if (state === 'busy') return true;
  }
  return false;
};

/** The lock that a saga waits for and another root holds. It changes nothing, unlike a look at the line. */
export const heldAgainst = async (looking: Looking, head: SagaHead): Promise<Permit | undefined> => {
  const { sagaId, root = sagaId } = head;
  for (const semaphore of waitsFor(head.state)) {
    const permits = await looking.store.permits.granted(semaphore);
    const held = permits.find(({ holder }) => holder !== '' && holder !== root);
    if (held !== undefined && (await isHeld(looking, held, true))) return held;
  }
  return undefined;
};
