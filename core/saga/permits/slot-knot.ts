/**
 * Finds deadlocks of slots and locks (L9). A root keeps its slot while its children wait for a lock, and the
 * saga that has the lock may itself stand in line for a slot. When every slot of a project is kept in this
 * way, none of these sagas could ever go on.
 */
import { mapAtOnce } from '../../shared/at-once.ts';
import type { SagaHead } from '../model/head.ts';
import { isOlder, rootOf, slotsOf } from '../model/permit.ts';
import type { SagaStore } from '../ports.ts';
import { namedIn } from '../prepare/prepare-children.ts';
import { heldAgainst, waitsFor } from './look.ts';

export interface KnotLooking {
  store: Pick<SagaStore, 'getHead' | 'getEntry' | 'permits'>;
}

/** What this saga waits for: its children that have not ended, or the holder of the lock that it needs. */
const waitedFor = async (looking: KnotLooking, head: SagaHead): Promise<string[]> => {
  const { wait, effects } = head.state;
  if (wait?.kind === 'resource') {
    const held = await heldAgainst(looking, head);
    return held === undefined ? [] : [held.holder];
  }
  if (wait?.kind !== 'children') return [];
  const { startSeq } = effects[wait.effect] ?? {};
  const started = startSeq === undefined ? undefined : await looking.store.getEntry(head.sagaId, startSeq);
  return namedIn(started).flatMap(({ sagaId }, at) => (wait.ended[at] === '-' ? [sagaId] : []));
};

const READS_AT_ONCE = 8;

/** Remembers what a read answered, so that the same read is made only once. */
const once = <Key extends (string | number)[], Answer>(read: (...key: Key) => Promise<Answer>) => {
  const answers = new Map<string, Promise<Answer>>();
  return (...key: Key): Promise<Answer> => {
    const name = key.join(' ');
    const answer = answers.get(name) ?? read(...key);
    answers.set(name, answer);
    return answer;
  };
};

/**
 * A project has up to a thousand slots, and their holders wait for the same few sagas. So each head is read
 * once.
 */
const rememberingOf = ({ store }: KnotLooking): KnotLooking => ({
  store: {
    getHead: once((sagaId) => store.getHead(sagaId)),
    getEntry: once((sagaId, seq) => store.getEntry(sagaId, seq)),
    permits: { ...store.permits, granted: once((semaphore) => store.permits.granted(semaphore)) },
  },
});

/** Whether a saga cannot go on until a saga in the line gets a slot. */
const needsSlotOf = (looking: KnotLooking, slots: string) => {
  const needing = new Set<string>();
  const needsSlot = async (sagaId: string, seen = new Set<string>()): Promise<boolean> => {
    if (needing.has(sagaId)) return true;
    if (seen.has(sagaId)) return false;
    seen.add(sagaId);
    const head = await looking.store.getHead(sagaId);
    if (head === undefined) return false;
    if (head.state.wait?.kind === 'slot') return waitsFor(head.state).includes(slots);
    for (const next of await waitedFor(looking, head)) {
      if (!(await needsSlot(next, seen))) continue;
      needing.add(sagaId);
      return true;
    }
    return false;
  };
  return needsSlot;
};

/** Whether `holds` is true for all items. Stops looking after the first item for which it is false. */
const holdsForAll = async (
  items: readonly string[],
  holds: (item: string) => Promise<boolean>,
): Promise<boolean> => {
  let isSo = true;
  await mapAtOnce(items, READS_AT_ONCE, async (item) => {
    if (isSo && !(await holds(item))) isSo = false;
  });
  return isSo;
};

/**
 * Whether a saga below `root` that waits for `behind` must give up. It must when all holders of slots wait
 * for a saga that needs a slot, and `root` is the youngest of them.
 */
export const closesKnot = async (looked: KnotLooking, root: SagaHead, behind: string): Promise<boolean> => {
  if (typeof root.state.slot !== 'number') return false;
  const looking = rememberingOf(looked);
  const { getHead, permits } = looking.store;
  const slots = slotsOf(root.project ?? '');
  const needsSlot = needsSlotOf(looking, slots);
  if (!(await needsSlot(behind))) return false;
  const holders = (await permits.granted(slots))
    .map(({ holder }) => holder)
    .filter((holder) => holder !== '' && holder !== root.sagaId);
  const keepsSlot = (head: SagaHead | undefined): head is SagaHead => typeof head?.state.slot === 'number';
  const isYoungest = await holdsForAll(holders, async (holder) => {
    const head = await getHead(holder);
    return !keepsSlot(head) || !isOlder(rootOf(root), rootOf(head));
  });
  if (!isYoungest) return false;
  return holdsForAll(holders, async (holder) => !keepsSlot(await getHead(holder)) || needsSlot(holder));
};
