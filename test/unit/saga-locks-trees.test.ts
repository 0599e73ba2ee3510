/** Locks of interactive sagas and of trees of sagas (L8, L9). */
import { expect, test } from 'vitest';
import { Crash } from '../../kit/testing/saga-machine.ts';
import { lockFleet } from '../support/lock-fleet.ts';
import type { FleetOptions } from '../support/saga-fleet.ts';

test('an interactive saga keeps its lock until it is closed, and then the next one is woken', async () => {
  const { run, start, submit, close, settle, stateOf, story } = await lockFleet();
  await start({
    sagaId: 'live',
    interactive: { onIdle: 'ask', idleTimeoutSeconds: 3600 },
    requestedBy: 'me',
  });
  const step = { sagaId: 'live', tool: 'work', arguments: { key: 'ada' } };
  expect((await submit({ ...step, stepId: 'one' })).step.status).toBe('committed');
  expect((await submit({ ...step, stepId: 'two' })).step.status).toBe('committed');
  expect((await story('live')).filter((entry) => entry === 'lock taken')).toHaveLength(1);
  await run('next', ['ada']);
  expect((await stateOf('next')).wait?.kind).toBe('resource');
  await close({ sagaId: 'live', outcome: 'complete' });
  await settle(20_000);
  expect((await stateOf('next')).status).toBe('COMPLETED');
});

test('a step of an interactive saga that finds its resource taken, or its project full, is done in its turn', async () => {
  const { begin, run, start, submit, answer, settle, stateOf } = await lockFleet();
  const project = { project: 'shop', maxConcurrent: 1 };
  await run('holder', [{ key: 'ada', approval: true }], { project: 'shop' });
  const interactive = { onIdle: 'ask' as const, idleTimeoutSeconds: 36_000 };
  await start({ sagaId: 'live', interactive, requestedBy: 'me', ...project });
  const step = { sagaId: 'live', stepId: 'one', tool: 'work', arguments: { key: 'ada' }, waitSeconds: 0 };
  expect((await submit(step)).step.status).not.toBe('committed');
  await settle(20_000);
  expect(await stateOf('live')).toMatchObject({ wait: { kind: 'resource' }, slot: null });
  await begin('fills', ['ben', 'cara'], project);
  await answer({ sagaId: 'holder', stepId: 's0', decision: 'approve', by: 'ada' });
  await settle(60_000);
  expect((await stateOf('fills')).status).toBe('COMPLETED');
  expect(await stateOf('live')).toMatchObject({ status: 'RUNNING', wait: { kind: 'next-step' }, slot: 0 });
  expect((await submit(step)).step.status).toBe('committed');
});

test('children take locks in the name of their root, which keeps them until all of it has ended', async () => {
  const { run, start, answer, settle, stateOf, list, requests, clock } = await lockFleet();
  const branch = (id: string) => ({
    id,
    plan: { steps: [{ id: 'w', tool: 'work', arguments: { key: 'ada', id } }] },
  });
  const ask = { id: 'ask', tool: 'free', arguments: { key: 'x' }, approval: { timeoutSeconds: 3600 } };
  await clock.advance(1000);
  const steps = [{ id: 'both', branches: [branch('left'), branch('right')] }, ask];
  await start({ sagaId: 'root', plan: { steps }, input: {}, requestedBy: 'me' });
  await settle(20_000);
  expect((await stateOf('root')).status).toBe('AWAITING');
  expect(await list({ sagaId: 'root' })).toMatchObject({ locks: [{ sagaId: 'root', resourceKey: 'ada' }] });
  await run('other', ['ada']);
  expect((await stateOf('other')).wait?.kind).toBe('resource');
  await answer({ sagaId: 'root', stepId: 'ask', decision: 'approve', by: 'ada' });
  await settle(60_000);
  expect((await stateOf('other')).status).toBe('COMPLETED');
  expect(requests.map(({ fencingToken }) => fencingToken)).toEqual([1, 1, undefined, 2]);
});

/** Two branches of a root wait for the lock of `holder`. */
const openWithBranches = async (storing?: FleetOptions['storing']) => {
  const fleet = await lockFleet(undefined, storing);
  const { begin, start, answer, settle, stateOf, clock } = fleet;
  await begin('holder', [{ key: 'ada', approval: true }]);
  await clock.advance(1000);
  const branch = (id: string) => ({
    id,
    plan: { steps: [{ id: 'w', tool: 'work', arguments: { key: 'ada', id } }] },
  });
  const steps = [{ id: 'both', branches: [branch('left'), branch('right')] }];
  await start({ sagaId: 'root', plan: { steps }, input: {}, requestedBy: 'me' });
  await settle(20_000);
  for (const child of ['left', 'right']) {
    expect((await stateOf(`root.both.${child}`)).wait?.kind).toBe('resource');
  }
  await answer({ sagaId: 'holder', stepId: 's0', decision: 'approve', by: 'ada' });
  return fleet;
};

test('all branches that wait for a lock go on at once when their root gets it', async () => {
  const { settle, stateOf, requests } = await openWithBranches();
  await settle(20_000);
  expect((await stateOf('root')).status).toBe('COMPLETED');
  expect(requests.map(({ sagaId, fencingToken }) => [sagaId.split('.')[0], fencingToken])).toEqual([
    ['holder', 1],
    ['root', 2],
    ['root', 2],
  ]);
});

test('a branch that was not told that its root has the lock is woken by the sweeper', async () => {
  let isLost = false;
  const { settle, stateOf } = await openWithBranches((inner) => ({
    ...inner,
    append: async (head, version, entries, beside) => {
      const outcome = await inner.append(head, version, entries, beside);
      const took = entries.some(({ direction, status }) => direction === 'lock' && status === 'taken');
      // Who took it dies before it tells the others.
      if (head.root === undefined || !took || isLost) return outcome;
      isLost = true;
      throw new Crash();
    },
  }));
  await settle(200_000);
  expect(isLost).toBe(true);
  expect((await stateOf('root')).status).toBe('COMPLETED');
});

test('when each slot is kept for a lock whose holder needs a slot, the youngest root gives up, and the others go on', async () => {
  for (const order of ['holder first second', 'first holder second']) {
    const { begin, start, answer, settle, stateOf, observed, clock } = await lockFleet();
    const project = { project: 'shop', maxConcurrent: 2 };
    const approval = { timeoutSeconds: 36_000 };
    // A root keeps its slot while its child waits, for a person first, then for the lock.
    const ask = { id: 'ask', tool: 'free', arguments: { key: 'x' }, approval };
    const work = { id: 'work', tool: 'work', arguments: { key: 'ada' } };
    const steps = [{ id: 'kids', branches: [{ id: 'kid', plan: { steps: [ask, work] } }] }];
    for (const sagaId of order.split(' ')) {
      if (sagaId === 'holder') await begin('holder', ['ada', { key: 'ben', approval: true }], project);
      else await start({ sagaId, plan: { steps }, input: {}, requestedBy: 'me', ...project });
      await settle(20_000);
      await clock.advance(1000);
    }
    for (const sagaId of ['first.kids.kid', 'second.kids.kid']) {
      await answer({ sagaId, stepId: 'ask', decision: 'approve', by: 'ada' });
      await settle(20_000);
    }
    await answer({ sagaId: 'holder', stepId: 's1', decision: 'approve', by: 'ada' });
    await settle(20_000);
    expect((await stateOf('holder')).status).toBe('QUEUED');
    await settle();
    expect((await stateOf('holder')).status).toBe('COMPLETED');
    expect((await stateOf('first')).status).toBe('COMPLETED');
    expect((await stateOf('second')).status).toBe('COMPENSATED');
    const { failed } = await observed('second.kids.kid');
    expect(failed?.error).toMatchObject({
      name: 'ResourceBusy',
      message: 'Saga holder works on ada, and began earlier. Start this one again later.',
    });
  }
});
