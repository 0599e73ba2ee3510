/**
 * A root keeps its slot while its children wait for a lock, and a saga that has the lock may stand in line for a slot. When each
 * slot of a project is kept so, none of them would ever go on (L9).
 */
import type { SagaHead } from '../model/head.ts';
import { isOlder, rootOf, slotsOf } from '../model/permit.ts';
import type { SagaStore } from '../ports.ts';
import { namedIn } from '../run/prepare-children.ts';
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

/** Whether this saga cannot go on before one of those in line gets a slot. */
const needsSlot = async (
  looking: KnotLooking,
  sagaId: string,
  slots: string,
  seen = new Set<string>(),
): Promise<boolean> => {
  if (seen.has(sagaId)) return false;
  seen.add(sagaId);
  const head = await looking.store.getHead(sagaId);
  if (head === undefined) return false;
  if (head.state.wait?.kind === 'slot') return waitsFor(head.state).includes(slots);
  for (const next of await waitedFor(looking, head)) {
    if (await needsSlot(looking, next, slots, seen)) return true;
  }
  return false;
};

/**
 * Whether a saga below `root` that waits for `behind` must give up: all who have slots wait for somebody who needs one, and
 * `root` is the youngest of them.
 */
export const closesKnot = async (looking: KnotLooking, root: SagaHead, behind: string): Promise<boolean> => {
  if (typeof root.state.slot !== 'number') return false;
  const slots = slotsOf(root.project ?? '');
  if (!(await needsSlot(looking, behind, slots))) return false;
  for (const { holder } of await looking.store.permits.granted(slots)) {
    if (holder === '' || holder === root.sagaId) continue;
    const head = await looking.store.getHead(holder);
    if (head === undefined || typeof head.state.slot !== 'number') continue;
    if (isOlder(rootOf(root), rootOf(head)) || !(await needsSlot(looking, holder, slots))) return false;
  }
  return true;
};
