import { expect } from 'vitest';
import { startTestCloud } from '../support/cloud.ts';
import { inTurn } from '../support/sampled-test.ts';
import { printedSeed, sampled } from '../support/sampling.ts';
import { shared } from '../support/shared.ts';
import { edit, fingerprint, openWorld, rootOf, sandboxIds, type World } from '../support/world.ts';

const test = inTurn('rollback-concurrency');

const PATHS = ['api', 'web'];

const cloud = shared(startTestCloud);

const headOf = async (world: World): Promise<string | undefined> => {
  const { session, checkpoints } = await world.timeline();
  expect(session.busy).toBe(null);
  return checkpoints.find(({ seq }) => seq === session.headSeq)?.checkpointId;
};

const answered = <T>(results: PromiseSettledResult<T>[]): T[] =>
  results.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
const refusals = (results: PromiseSettledResult<unknown>[]): unknown[] =>
  results.flatMap((one) =>
    one.status === 'rejected' ? [(one.reason as { errorType?: string }).errorType ?? one.reason] : [],
  );

test('two rollbacks at once: one after the other, or one is refused; never a mixture', async () => {
  const world = await openWorld(cloud(), { sessionId: 'two', paths: PATHS });
  edit(world.root, 1, PATHS);
  const first = await world.checkpoint('first');
  edit(world.root, 2, PATHS);
  const second = await world.checkpoint('second');
  edit(world.root, 3, PATHS);
  const before = world.fingerprint();

  const results = await Promise.allSettled([
    world.rollback('one', first.checkpointId),
    world.rollback('two', second.checkpointId),
  ]);
  expect(answered(results).length).toBeGreaterThan(0);
  for (const name of refusals(results)) expect(name).toBe('RollbackInProgress');
  const head = await headOf(world);
  const standsOn = [first, second].find(({ checkpointId }) => checkpointId === head);
  expect(world.fingerprint()).toEqual(standsOn?.looks);

  const undo = answered(results).find(({ epoch }) => epoch === 2)?.['undoCheckpointId'];
  await world.rollback('undo', String(undo));
  expect(world.fingerprint()).toEqual(before);
});

test('the same rollback twice at once is one rollback', async () => {
  const world = await openWorld(cloud(), { sessionId: 'same', paths: PATHS });
  edit(world.root, 1, PATHS);
  const first = await world.checkpoint('first');
  edit(world.root, 2, PATHS);
  const before = world.fingerprint();

  const results = await Promise.allSettled([
    world.rollback('r', first.checkpointId),
    world.rollback('r', first.checkpointId),
  ]);
  const again = await world.rollback('r', first.checkpointId);
  for (const answer of answered(results)) expect(answer).toEqual(again);
  for (const name of refusals(results)) expect(['RollbackInProgress', 'RollbackIncomplete']).toContain(name);
  expect(again).toMatchObject({ status: 'APPLIED', epoch: 2 });
  expect(world.fingerprint()).toEqual(first.looks);
  expect(await headOf(world)).toBe(first.checkpointId);
  await world.rollback('undo', String(again['undoCheckpointId']));
  expect(world.fingerprint()).toEqual(before);
});

/** One of them, the other one at another time. */
const MODES = sampled(['review', 'resume'], { every: 2, offset: printedSeed('mode at once') });

test.each(MODES)('the same %s twice at once answers one sandbox, and no other is left', async (mode) => {
  const world = await openWorld(cloud(), { sessionId: mode, paths: PATHS });
  edit(world.root, 1, PATHS);
  const { looks } = await world.checkpoint('first');
  const others = await sandboxIds(cloud());
  const rehydrate = () => cloud().invoke('rehydrate', { sessionId: mode, requestId: 'h', mode });
  const results = await Promise.allSettled([rehydrate(), rehydrate()]);
  for (const name of refusals(results)) expect(name).toBe('RequestConflict');
  const again = await rehydrate();
  for (const answer of answered(results)) expect(answer).toEqual(again);
  const sandboxId = String(again['sandboxId']);
  expect(fingerprint(rootOf(cloud(), sandboxId), PATHS)).toEqual(looks);
  expect(await sandboxIds(cloud())).toEqual([...others, sandboxId].toSorted());
  expect((await world.timeline()).session).toMatchObject({ epoch: mode === 'resume' ? 2 : 1, busy: null });
});
