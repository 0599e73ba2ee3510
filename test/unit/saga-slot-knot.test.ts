/** What a look costs that finds whether all slots of a project are kept for one lock (L9). */
import { expect, test } from 'vitest';
import type { SagaHead } from '../../core/saga/model/head.ts';
import { lockOf, type Permit, slotsOf } from '../../core/saga/model/permit.ts';
import { closesKnot, type KnotLooking } from '../../core/saga/permits/slot-knot.ts';
import { lockFleet } from '../support/lock-fleet.ts';

const SLOTS = 200;

/** Real heads, once each: a root that keeps its slot, its child that waits for the lock, and who has the lock and needs a slot. */
const knot = async () => {
  const { run, start, answer, settle, clock, store } = await lockFleet();
  const project = { project: 'shop', maxConcurrent: 1 };
  const approval = { timeoutSeconds: 36_000 };
  const ask = { id: 'ask', tool: 'free', arguments: { key: 'x' }, approval };
  const work = { id: 'work', tool: 'work', arguments: { key: 'ada' } };
  const steps = [{ id: 'kids', branches: [{ id: 'kid', plan: { steps: [ask, work] } }] }];
  await run('holder', ['ada', { key: 'ben', approval: true }], project);
  await clock.advance(1000);
  await start({ sagaId: 'root', plan: { steps }, input: {}, requestedBy: 'me', ...project });
  await settle(20_000);
  await answer({ sagaId: 'holder', stepId: 's1', decision: 'approve', by: 'ada' });
  await settle(20_000);
  const heads = await Promise.all(['root', 'root.kids.kid', 'holder'].map((id) => store.getHead(id)));
  const [root, child, holder] = heads;
  if (root === undefined || child === undefined || holder === undefined) throw new Error('a saga is missing');
  expect([root.state.wait?.kind, holder.state.wait?.kind]).toEqual(['children', 'slot']);
  const startSeq = root.state.effects[0]?.startSeq ?? 0;
  return { root, child, holder, started: await store.getEntry('root', startSeq) };
};

/** As many such roots as the project has slots, the youngest last. */
const manyRoots = async () => {
  const { root, child, holder, started } = await knot();
  const lock = lockOf('shop', 'ada');
  const at = (number: number) => new Date(Date.parse(root.createdAt) + number).toISOString();
  const heads = new Map<string, SagaHead>([['holder', holder]]);
  const permits: Permit[] = [];
  const permit = { fencingToken: 1, since: root.createdAt, label: '' };
  for (let number = 0; number < SLOTS; number += 1) {
    const sagaId = `root${number}`;
    heads.set(sagaId, { ...root, sagaId, createdAt: at(number), state: { ...root.state, slot: number } });
    const wait = { kind: 'resource', semaphores: [lock], step: 1, untilMs: 0 } as never;
    heads.set(`${sagaId}.kid`, {
      ...child,
      sagaId: `${sagaId}.kid`,
      root: sagaId,
      state: { ...child.state, wait },
    });
    permits.push({ ...permit, semaphore: slotsOf('shop'), number, holder: sagaId });
  }
  let reads = 0;
  const read = <Answer>(answer: Answer): Promise<Answer> => {
    reads += 1;
    return Promise.resolve(answer);
  };
  const looking = {
    store: {
      getHead: (sagaId: string) => read(heads.get(sagaId)),
      getEntry: (sagaId: string) => read({ ...started, children: [{ sagaId: `${sagaId}.kid` }] }),
      permits: {
        granted: (semaphore: string) =>
          read(semaphore === lock ? [{ ...permit, semaphore, number: 0, holder: 'holder' }] : [...permits]),
      },
    },
  } as unknown as KnotLooking;
  const closes = (number: number) => {
    reads = 0;
    const head = heads.get(`root${number}`);
    if (head === undefined) throw new Error(`no root ${number}`);
    return closesKnot(looking, head, 'holder');
  };
  return { closes, heads, reads: () => reads };
};

test('the youngest of many that keep a slot reads each saga once, and another one almost nothing', async () => {
  const { closes, heads, reads } = await manyRoots();
  expect(await closes(SLOTS - 1)).toBe(true);
  // Of each other root: its head, its entry, and the head of its child.
  expect(reads()).toBeLessThan(3 * SLOTS + 10);
  expect(await closes(0)).toBe(false);
  expect(reads()).toBeLessThan(20);
  const busy = heads.get('root7.kid');
  if (busy === undefined) throw new Error('no child');
  heads.set('root7.kid', { ...busy, state: { ...busy.state, wait: null } });
  expect(await closes(SLOTS - 1)).toBe(false);
  expect(reads()).toBeLessThan(2 * SLOTS);
});
