/** Locks on exclusive resources and limits of a project, case by case (L8, L9). */
import { expect, test } from 'vitest';
import { toolViolations } from '../../core/saga/plan/catalog.ts';
import type { SagaStore } from '../../core/saga/ports.ts';
import { createDescribe } from '../../core/saga/view/describe.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { lockFleet } from '../support/lock-fleet.ts';
import { committed, rejected, scriptedTool } from '../support/scripted-saga.ts';

test('the lock is taken before the first call, which carries its fencing token', async () => {
  const { begin, settle, story, requests, list } = await lockFleet();
  await begin('one', ['ada', 'ada']);
  await settle();
  expect(await story('one')).toEqual([
    'saga started',
    'lock taken',
    'forward started',
    'forward committed',
    'forward started',
    'forward committed',
    'saga completed',
  ]);
  await begin('two', ['ada']);
  await settle();
  expect(requests.map(({ sagaId, fencingToken }) => [sagaId, fencingToken])).toEqual([
    ['one', 1],
    ['one', 1],
    ['two', 2],
  ]);
  expect(await list({ sagaId: 'two' })).toEqual({ locks: [] });
});

test('a compensator gets the token of its call', async () => {
  const { begin, settle, requests } = await lockFleet(({ step, operation }) =>
    step === 's1' && operation === 'execute' ? rejected() : committed(),
  );
  await begin('one', ['ada', 'ben']);
  await settle();
  const undo = requests.find(({ operation }) => operation === 'compensate');
  expect(undo).toMatchObject({ step: 's0', fencingToken: 1 });
});

test('locks that the input names are taken all together, or none while one of them is busy', async () => {
  const { run, settle, answer, stateOf, observed, list } = await lockFleet();
  await run('holder', [{ key: 'ben', approval: true }]);
  await run('both', ['ada', 'ben']);
  expect(await stateOf('both')).toMatchObject({ wait: { kind: 'resource', untilMs: null }, effects: [] });
  expect(await list({ sagaId: 'both' })).toEqual({ locks: [] });
  expect(await list({ sagaId: 'holder' })).toMatchObject({
    locks: [{ resourceKey: 'ben', status: 'AWAITING', waiting: ['both'] }],
  });
  const { doing } = await observed('both');
  expect(doing).toMatchObject({ what: 'waiting', step: 's1', tool: 'work' });
  expect(doing?.reason).toBe('until saga holder has ended: it works on ben');
  await answer({ sagaId: 'holder', stepId: 's0', decision: 'approve', by: 'ada' });
  await settle();
  expect((await stateOf('both')).status).toBe('COMPLETED');
});

test('a saga that stands first in line keeps a free lock from younger ones', async () => {
  const { run, settle, answer, requests } = await lockFleet();
  await run('holder', [{ key: 'ben', approval: true }]);
  await run('first', ['ada', 'ben']);
  await run('second', ['ada']);
  expect(requests).toEqual([]);
  await answer({ sagaId: 'holder', stepId: 's0', decision: 'approve', by: 'ada' });
  await settle();
  expect(requests.map(({ sagaId }) => sagaId)).toEqual(['holder', 'first', 'first', 'second']);
});

test('an older saga waits for a younger one; the younger one gives up after 30 s, and is undone', async () => {
  const fleet = await lockFleet(async ({ sagaId, step, attempt }) => {
    if (sagaId !== 'older' || step !== 's0' || attempt > 1) return committed({ ok: true });
    // While it pauses, the younger one takes its first lock.
    await fleet.begin('younger', ['ben', { late: 'ada' }]);
    return rejected(true);
  });
  const { run, settle, stateOf, observed, clock, requests } = fleet;
  await run('older', ['ada', { late: 'ben' }]);
  const sinceMs = clock.nowMs();
  expect((await stateOf('older')).wait).toMatchObject({ kind: 'resource', untilMs: null });
  expect((await stateOf('younger')).wait).toMatchObject({ kind: 'resource', untilMs: expect.any(Number) });
  await settle();
  expect(await stateOf('older')).toMatchObject({ status: 'COMPLETED' });
  expect(await stateOf('younger')).toMatchObject({
    status: 'COMPENSATED',
    failure: { error: { name: 'ResourceBusy' } },
  });
  expect((await observed('younger')).failed?.error.message).toBe(
    'Saga older works on ada, and began earlier. Start this one again later.',
  );
  expect(clock.nowMs() - sinceMs).toBeGreaterThan(10_000);
  expect(requests.filter(({ operation }) => operation === 'compensate')).toHaveLength(1);
});

test('effects that could not be undone keep their lock, until an operator has worked them', async () => {
  const { run, settle, stateOf, operate, list } = await lockFleet(({ sagaId, step, operation }) => {
    if (sagaId !== 'fails') return committed();
    return step === 's1' || operation === 'compensate' ? rejected() : committed();
  });
  await run('fails', ['ada', 'ben']);
  expect(await stateOf('fails')).toMatchObject({ status: 'COMPENSATION_FAILED' });
  await run('next', ['ada']);
  expect((await stateOf('next')).wait?.kind).toBe('resource');
  expect((await list({})).locks.map(({ resourceKey }) => resourceKey).toSorted()).toEqual(['ada', 'ben']);
  await operate({ sagaId: 'fails', action: 'skip', stepId: 's0', by: 'ops', evidence: 'it may stay' });
  await settle();
  expect((await stateOf('next')).status).toBe('COMPLETED');
});

test('an operator breaks a lock with a reason, which the ledger of the holder keeps', async () => {
  const { run, settle, stateOf, operate, store } = await lockFleet();
  await run('holder', [{ key: 'ada', approval: true }]);
  await run('next', ['ada']);
  const about = { sagaId: 'holder', action: 'break-lock' as const, by: 'ops' };
  await expect(operate({ ...about, resourceKey: 'ada' })).rejects.toMatchObject({ name: 'InvalidInput' });
  await expect(operate({ ...about, evidence: 'why' })).rejects.toMatchObject({ name: 'InvalidInput' });
  const broken = { ...about, resourceKey: 'ada', evidence: 'nobody answers' };
  await operate(broken);
  await settle();
  expect((await stateOf('next')).status).toBe('COMPLETED');
  const entries = await store.listEntries('holder');
  expect(entries.find(({ status }) => status === 'broken')).toMatchObject({
    direction: 'lock',
    status: 'broken',
    resourceKey: 'ada',
    evidence: 'nobody answers',
    actor: 'ops',
  });
  await expect(operate(broken)).rejects.toMatchObject({ name: 'OperationRefused' });
});

test('cancelling a saga that waits for a lock ends it at once, and the line goes on', async () => {
  const { begin, run, settle, stateOf, operate, answer } = await lockFleet();
  await run('holder', [{ key: 'ada', approval: true }]);
  await begin('first', ['ada']);
  await run('second', ['ada']);
  await operate({ sagaId: 'first', action: 'cancel', by: 'ops' });
  await settle(20_000);
  expect((await stateOf('first')).status).toBe('COMPENSATED');
  await answer({ sagaId: 'holder', stepId: 's0', decision: 'reject', by: 'ada' });
  await settle();
  expect((await stateOf('second')).status).toBe('COMPLETED');
});

test('the first in line whose executions died gets one when the lock is free, and keeps nobody behind it waiting', async () => {
  const { begin, run, settle, stateOf, answer, running, engine, sweep, clock } = await lockFleet();
  await run('holder', [{ key: 'ada', approval: true }]);
  await begin('first', ['ada']);
  await run('second', ['ada']);
  const dead = new Set<string>();
  const look = engine.look.bind(engine);
  engine.look = async (sagaId, generation) =>
    dead.has(`${sagaId} ${generation}`) ? 'ended' : look(sagaId, generation);
  const kill = () => {
    for (const one of running.filter(({ sagaId }) => sagaId === 'first')) {
      running.splice(running.indexOf(one), 1);
      dead.add(`first ${one.generation}`);
    }
  };
  // Each of them, until the sweeper waits for half an hour.
  for (let minute = 0; minute < 45; minute += 1) {
    kill();
    await sweep();
    await clock.advance(60_000);
  }
  kill();
  expect(await stateOf('first')).toMatchObject({ wait: { kind: 'resource' } });
  expect((await sweep()).stuck).toEqual(['first']);
  await answer({ sagaId: 'holder', stepId: 's0', decision: 'reject', by: 'ada' });
  await settle(30_000);
  expect((await stateOf('first')).status).toBe('COMPLETED');
  expect((await stateOf('second')).status).toBe('COMPLETED');
});

test('a saga that waits tells who holds the lock now, not who held it when it began to wait', async () => {
  const { begin, run, settle, answer, store, clock } = await lockFleet();
  const reasonOf = async (sagaId: string) => (await createDescribe({ store, clock })(sagaId)).doing?.reason;
  await begin('holder', [{ key: 'ada', approval: true }]);
  await begin('next', ['ada', { key: 'ben', approval: true }]);
  await run('last', ['ada']);
  expect(await reasonOf('last')).toBe('until saga holder has ended: it works on ada');
  await answer({ sagaId: 'holder', stepId: 's0', decision: 'approve', by: 'ada' });
  expect(await reasonOf('last')).toBe('until saga holder has ended: it works on ada');
  await settle(20_000);
  expect(await reasonOf('last')).toBe('until saga next has ended: it works on ada');
  // Its own end, without the rest of what the end does.
  const head = await store.getHead('next');
  if (head === undefined) throw new Error('no saga next');
  const state = { ...head.state, status: 'COMPLETED' as const, phase: 'done' as const };
  await store.append({ ...head, state, version: head.version + 1 }, head.version, []);
  expect(await reasonOf('last')).toBe('for its turn: nobody holds what it waits for');
});

test('projects do not share locks', async () => {
  const { begin, run, stateOf } = await lockFleet();
  await begin('holder', [{ key: 'ada', approval: true }], { project: 'one' });
  await run('other', ['ada'], { project: 'two' });
  expect((await stateOf('other')).status).toBe('COMPLETED');
});

test('a saga that finds its project full is queued, and starts in its turn', async () => {
  const { begin, settle, stateOf, observed, answer, requests } = await lockFleet();
  const project = { project: 'shop', maxConcurrent: 1 };
  expect(await begin('one', ['a', 'a2'], project)).toMatchObject({ status: 'RUNNING' });
  expect(await begin('two', ['b'], project)).toMatchObject({ status: 'QUEUED' });
  expect(await begin('three', ['c'], project)).toMatchObject({ status: 'QUEUED' });
  expect(await begin('two', ['b'], project).catch((error: unknown) => error)).toMatchObject({
    status: 'QUEUED',
  });
  expect(await begin('else', ['d'], { project: 'other', maxConcurrent: 1 })).toMatchObject({
    status: 'RUNNING',
  });
  expect((await observed('two')).doing).toMatchObject({ what: 'waiting' });
  await settle();
  for (const sagaId of ['one', 'two', 'three']) expect((await stateOf(sagaId)).status).toBe('COMPLETED');
  const order = requests.map(({ sagaId }) => sagaId).filter((sagaId) => sagaId !== 'else');
  expect(order).toEqual(['one', 'one', 'two', 'three']);
  await expect(answer({ sagaId: 'two', stepId: 's0', decision: 'approve', by: 'ada' })).rejects.toMatchObject(
    {
      name: 'OperationRefused',
    },
  );
});

test('a lower limit of a project counts those that run already, and one that came later keeps nobody waiting', async () => {
  const { begin, run, settle, stateOf, answer, story } = await lockFleet();
  const most = (maxConcurrent: number) => ({ project: 'shop', maxConcurrent });
  const sagaStatus = async (sagaId: string) => (await stateOf(sagaId)).status;
  // Their slots are 0 to 3. Each keeps its own while it waits for a child, which asks a person.
  const before = ['a', 'b', 'c', 'd'];
  for (const sagaId of before) await begin(sagaId, [{ child: sagaId }], most(5));
  await settle(20_000);
  await begin('low', ['x'], most(2));
  expect(await sagaStatus('low')).toBe('QUEUED');
  const end = async (sagaId: string) => {
    await answer({ sagaId: `${sagaId}.s0.kid`, stepId: 'ask', decision: 'approve', by: 'ada' });
    await settle(20_000);
    expect(await sagaStatus(sagaId)).toBe('COMPLETED');
  };
  await end('a');
  await end('b');
  // Two run, c and d, so its project is full, although slots 0 and 1 are free.
  expect(await sagaStatus('low')).toBe('QUEUED');
  for (const sagaId of ['high', 'higher']) {
    await run(sagaId, [{ child: sagaId }], most(5));
    expect(await stateOf(sagaId)).toMatchObject({ status: 'RUNNING', slot: expect.any(Number) });
  }
  await end('c');
  expect(await sagaStatus('low')).toBe('QUEUED');
  // Those that came after it go on, and do not count.
  await end('d');
  expect(await sagaStatus('low')).toBe('COMPLETED');
  expect(await story('low')).toContain('slot queued');
});

test('a look at a lowered limit reads no more sagas than it needs', async () => {
  let reads = 0;
  const storing = (store: SagaStore): SagaStore => ({
    ...store,
    getHead: (sagaId) => {
      reads += 1;
      return store.getHead(sagaId);
    },
  });
  const readsWith = async (running: number): Promise<number> => {
    const { begin, settle, stateOf } = await lockFleet(undefined, storing);
    for (let n = 0; n < running; n += 1) {
      await begin(`before-${n}`, [{ child: `k${n}` }], { project: 'shop', maxConcurrent: running });
      await settle(5000);
    }
    reads = 0;
    await begin('low', ['x'], { project: 'shop', maxConcurrent: 2 });
    expect(reads).toBeGreaterThan(0);
    const seen = reads;
    expect((await stateOf('low')).status).toBe('QUEUED');
    return seen;
  };
  expect(await readsWith(40)).toBe(await readsWith(4));
});

test('a queued saga whose start was refused is started when the machine tries again', async () => {
  const { begin, settle, stateOf, engine } = await lockFleet();
  const project = { project: 'shop', maxConcurrent: 1 };
  await begin('one', ['a'], project);
  await begin('two', ['b'], project);
  const start = engine.start.bind(engine);
  const refusal = new WalkbackError('Throttled', 'Too many starts.', { retryable: true });
  engine.start = () => Promise.reject(refusal);
  await expect(settle(10_000)).rejects.toBe(refusal);
  engine.start = start;
  await settle(10_000);
  expect((await stateOf('two')).status).toBe('COMPLETED');
});

test('who waits for a person gives the slot back, and takes one again before its next step', async () => {
  const { run, settle, stateOf, answer, requests } = await lockFleet();
  const project = { project: 'shop', maxConcurrent: 1 };
  await run('asks', [{ key: 'a', approval: true }], project);
  expect(await stateOf('asks')).toMatchObject({ status: 'AWAITING', slot: null });
  await run('works', ['c'], project);
  expect((await stateOf('works')).status).toBe('COMPLETED');
  await answer({ sagaId: 'asks', stepId: 's0', decision: 'approve', by: 'ada' });
  await settle();
  expect((await stateOf('asks')).status).toBe('COMPLETED');
  expect(requests.map(({ sagaId }) => sagaId)).toEqual(['works', 'asks']);
});

test('a saga that is queued again keeps its place when the one before is cleared late', async () => {
  const late: (() => Promise<void>)[] = [];
  const storing = (store: SagaStore): SagaStore => ({
    ...store,
    permits: {
      ...store.permits,
      leave: async (ticket) => {
        if (late.length === 0) late.push(() => store.permits.leave(ticket));
        else await store.permits.leave(ticket);
      },
    },
  });
  const { begin, run, settle, stateOf, answer } = await lockFleet(undefined, storing);
  const project = { project: 'shop', maxConcurrent: 1 };
  await begin('one', ['a'], project);
  expect(await begin('asks', [{ key: 'b', approval: true }], project)).toMatchObject({ status: 'QUEUED' });
  // It is admitted, and whoever admitted it stands still before clearing its place.
  await settle(20_000);
  expect(late).toHaveLength(1);
  expect((await stateOf('asks')).status).toBe('AWAITING');
  await run('busy', [{ child: 'k' }], project);
  await answer({ sagaId: 'asks', stepId: 's0', decision: 'approve', by: 'ada' });
  await settle(20_000);
  expect((await stateOf('asks')).status).toBe('QUEUED');
  for (const clear of late) await clear();
  await answer({ sagaId: 'busy.s0.kid', stepId: 'ask', decision: 'approve', by: 'ada' });
  await settle();
  expect((await stateOf('asks')).status).toBe('COMPLETED');
});

test('a slot that another takes while the first in line is admitted leaves that one in line', async () => {
  let isTaken = false;
  const storing = (store: SagaStore): SagaStore => ({
    ...store,
    append: async (head, ...rest) => {
      if (head.sagaId === 'queued' && head.state.slot === 0 && !isTaken) {
        isTaken = true;
        await fleet.answer({ sagaId: 'asks', stepId: 's0', decision: 'approve', by: 'ada' });
        await fleet.act();
        expect(await fleet.stateOf('asks')).toMatchObject({ slot: 0 });
      }
      return store.append(head, ...rest);
    },
  });
  const fleet = await lockFleet(undefined, storing);
  const { begin, run, settle, stateOf, answer, requests } = fleet;
  const project = { project: 'shop', maxConcurrent: 1 };
  await run('asks', [{ key: 'a', approval: true }], project);
  await run('busy', [{ child: 'k' }], project);
  expect(await begin('queued', ['c'], project)).toMatchObject({ status: 'QUEUED' });
  await answer({ sagaId: 'busy.s0.kid', stepId: 'ask', decision: 'approve', by: 'ada' });
  await settle();
  expect(isTaken).toBe(true);
  for (const sagaId of ['asks', 'busy', 'queued']) expect((await stateOf(sagaId)).status).toBe('COMPLETED');
  expect(requests.map(({ sagaId }) => sagaId)).toEqual(['busy.s0.kid', 'asks', 'queued']);
});

test('a queued saga is cancelled without having run', async () => {
  const { begin, settle, stateOf, operate, requests } = await lockFleet();
  const project = { project: 'shop', maxConcurrent: 1 };
  await begin('one', ['a'], project);
  await begin('two', ['b'], project);
  await operate({ sagaId: 'two', action: 'cancel', by: 'ops' });
  await settle();
  expect((await stateOf('two')).status).toBe('COMPENSATED');
  expect(requests.map(({ sagaId }) => sagaId)).toEqual(['one']);
});

test('a limit without a project, and an exclusive tool without a resource, are refused', async () => {
  const { begin } = await lockFleet();
  await expect(begin('one', ['a'], { maxConcurrent: 1 })).rejects.toMatchObject({
    name: 'InvalidInput',
    message: 'maxConcurrent: name the project that it limits.',
  });
  expect(toolViolations(scriptedTool('work', 'compensatable', { exclusive: true }))).toEqual([
    'tool work@1: it is exclusive and has no resourceKey; say which resource it needs for itself',
  ]);
});
