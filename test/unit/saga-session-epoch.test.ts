/** Work of an older epoch of a session does not begin, whoever is faster (C9, L6). */
import { expect, test } from 'vitest';
import type { Session } from '../../core/checkpoint/model.ts';
import { createCheckEpoch } from '../../core/checkpoint/session/check-epoch.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { committed, SAGA, scriptedSaga, scriptedTool } from '../support/scripted-saga.ts';

const TOOLS = [scriptedTool('look', 'read'), scriptedTool('pay', 'compensatable')];

/** A session in epoch 2. `risesAfter`: it rises when so many checks have passed. */
const opened = async (risesAfter = Number.POSITIVE_INFINITY) => {
  let epoch = 2;
  let checks = 0;
  const saga = await scriptedSaga({
    tools: TOOLS,
    answer: () => committed({ ok: true }),
    inEpoch: (fence) => fence.epoch === epoch,
    checkEpoch: async (fence) => {
      if (fence.epoch !== epoch) throw new WalkbackError('StaleEpoch', 'the session is in another epoch');
      checks += 1;
      if (checks >= risesAfter) epoch = 3;
    },
  });
  const common = { sessionId: 'session', messageId: 'm1', requestedBy: 'me' };
  const plan = { steps: [{ id: 'pay', tool: 'pay', arguments: {} }] };
  const calls = {
    plan: (at: number, sagaId = SAGA) =>
      saga.machine.start({ sagaId, plan, input: {}, ...common, epoch: at }),
    interactive: (at: number, sagaId = SAGA) =>
      saga.machine.start({ sagaId, interactive: { onIdle: 'unwind' }, ...common, epoch: at }),
    call: (at: number, tool = 'pay') =>
      saga.machine.callTool({ requestId: `call-${tool}`, tool, arguments: {}, ...common, epoch: at }),
    submit: (at: number, stepId = 'one') =>
      saga.machine.submit({
        sagaId: SAGA,
        stepId,
        tool: 'pay',
        arguments: {},
        sessionId: 'session',
        epoch: at,
      }),
  };
  return { ...saga, calls, rise: () => (epoch = 3) };
};

test.each(['plan', 'interactive', 'call'] as const)(
  '%s of an older epoch is StaleEpoch, and nothing is written',
  async (kind) => {
    const { calls, store, requests } = await opened();
    await expect(calls[kind](1)).rejects.toMatchObject({ name: 'StaleEpoch' });
    expect(await store.listBySession('session')).toEqual([]);
    expect(requests).toEqual([]);
    await calls[kind](2);
    expect(await store.listBySession('session')).toHaveLength(1);
  },
);

test.each([1, 2])(
  'a saga does not begin when the epoch rises after check %i',
  async (risesAfter) => {
    const { calls, store } = await opened(risesAfter);
    await expect(calls.plan(2)).rejects.toMatchObject({ name: 'StaleEpoch' });
    expect(await store.getHead(SAGA)).toBeUndefined();
  },
  60_000,
);

test('a read of an older epoch is refused, though it writes nothing', async () => {
  const { calls, requests } = await opened();
  await expect(calls.call(1, 'look')).rejects.toMatchObject({ name: 'StaleEpoch' });
  expect(requests).toEqual([]);
  expect((await calls.call(2, 'look')).step.status).toBe('committed');
});

test('a step of an older epoch is refused, also when the epoch rises between the check and the write', async () => {
  const { calls, store, rise, seen, machine, requests } = await opened(3);
  // The start looks twice, and the third look is that of the step.
  await calls.interactive(2);
  await expect(calls.submit(2)).rejects.toMatchObject({ name: 'StaleEpoch' });
  expect((await seen()).story).toEqual(['saga started']);
  expect(await store.getSubmittedStep(SAGA, 'one')).toBeUndefined();
  expect(requests).toEqual([]);
  rise();
  expect((await calls.submit(3)).step.status).toBe('committed');
  // What is there already is told, whatever the epoch is now.
  expect((await calls.submit(2)).step.status).toBe('committed');
  await expect(calls.interactive(2)).resolves.toMatchObject({ sagaId: SAGA });
  // Without an epoch nothing is checked.
  const step = { sagaId: SAGA, stepId: 'two', tool: 'pay', arguments: {} };
  expect((await machine.submit({ ...step, sessionId: 'session' })).step.status).toBe('committed');
  await expect(machine.submit({ ...step, stepId: 'three', epoch: 3 })).rejects.toMatchObject({
    name: 'InvalidInput',
  });
});

test('a session that has ended, or that there is not, takes no work that names its epoch', async () => {
  const session = { sessionId: 's', epoch: 1, status: 'ended' } as Session;
  const check = (found: Session | undefined) => createCheckEpoch({ getSession: async () => found });
  await expect(check(session)({ sessionId: 's', epoch: 1 })).rejects.toMatchObject({ name: 'SessionEnded' });
  await expect(check(undefined)({ sessionId: 's', epoch: 1 })).rejects.toMatchObject({
    name: 'SessionNotFound',
  });
  await expect(
    check({ ...session, status: 'active' })({ sessionId: 's', epoch: 1 }),
  ).resolves.toBeUndefined();
});
