/** A rewind of a session takes back the last steps of interactive sagas that began before the target (L6, L7). */
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { fold } from '../../core/saga/decide/fold.ts';
import { findChainBreak } from '../../core/saga/entries/hash-chain.ts';
import { createSessionEffects } from '../../core/saga/view/session-effects.ts';
import { SESSION } from '../support/fakes/stage.ts';
import { committed, rejected } from '../support/scripted-saga.ts';
import { rewindStage } from '../support/session-rewind.ts';

type Stage = Awaited<ReturnType<typeof rewindStage>>;

const live = async ({ sagas }: Stage) => {
  const head = await sagas.store.getHead('live');
  if (head === undefined) throw new Error('the interactive saga was not started');
  const entries = await sagas.store.listEntries('live');
  expect(findChainBreak(entries, head)).toBeUndefined();
  expect(isDeepStrictEqual(fold(entries), head.state)).toBe(true);
  return head;
};

const keysOf = ({ sagas }: Stage) =>
  sagas.requests
    .filter(({ sagaId, operation }) => sagaId === 'live' && operation === 'execute')
    .map(({ idempotencyKey }) => idempotencyKey);

test('goes back to its last step before the message, and waits for the next one in the next epoch', async () => {
  const session = await rewindStage({ live: true });
  const planned = await session.rewind({ dryRun: true });
  expect(planned.sagas.find(({ sagaId }) => sagaId === 'live')).toMatchObject({
    status: 'RUNNING',
    epoch: 0,
    after: 'first',
    plan: { undo: [{ step: 'third' }, { step: 'second' }], stands: [] },
  });
  const answer = await session.carryOut();
  expect(session.undone()).toEqual(['live:2:undo', 'live:1:undo', 'done:1:undo', 'done:0:undo']);
  expect(answer.sagas.find(({ sagaId }) => sagaId === 'live')).toMatchObject({
    status: 'RUNNING',
    epoch: 1,
    plan: { undo: [] },
    observation: {
      guidance: { text: 'Leave the web alone.', by: 'rita' },
      committed: [{ step: 'first' }],
      compensated: [{ step: 'second' }, { step: 'third' }],
      interactive: { what: 'next-step' },
    },
  });
  expect((await session.submit('fourth', 'm3')).step.status).toBe('committed');
  expect(keysOf(session)).toEqual(['live:0', 'live:1', 'live:2', 'live:3@1']);
  expect((await live(session)).state.status).toBe('RUNNING');
});

test('is refused over a step that nothing takes back, before anything is written, unless it is accepted', async () => {
  const session = await rewindStage({ live: true });
  await session.submit('told', 'm2', { tool: 'mail' });
  await expect(session.rewind()).rejects.toMatchObject({ name: 'PointOfNoReturn' });
  expect(session.undone()).toEqual([]);
  expect((await live(session)).state.epoch).toBe(0);
  expect(await session.carryOut({ acceptResidue: true, reason: 'it may stay' })).toMatchObject({
    status: 'REWOUND',
  });
  expect((await live(session)).state).toMatchObject({ status: 'RUNNING', epoch: 1 });
});

test('one that was closed goes forward again, and one that was put aside too', async () => {
  for (const end of ['close', 'park'] as const) {
    const session = await rewindStage({ live: true });
    if (end === 'close') await session.machine.close({ sagaId: 'live', outcome: 'complete' });
    else await session.machine.park({ sagaId: 'live', summary: 'the budget is spent', sessionId: SESSION });
    expect(await session.carryOut()).toMatchObject({ status: 'REWOUND' });
    expect((await live(session)).state).toMatchObject({ status: 'RUNNING', epoch: 1, phase: 'forward' });
  }
});

test('one without a step since is left alone, and so is one whose steps since were undone before', async () => {
  const session = await rewindStage({ live: true });
  await session.carryOut();
  const before = await live(session);
  const again = await session.carryOut({ requestId: 'once more' });
  expect(again.sagas.find(({ sagaId }) => sagaId === 'live')?.plan).toEqual({ undo: [], stands: [] });
  expect(await live(session)).toEqual(before);
  await session.carryOut({ to: { messageId: 'm2' }, requestId: 'to m2' });
  expect(await live(session)).toEqual(before);
});

test('a step that waits for a person is given up, and was never started', async () => {
  const session = await rewindStage({ live: true });
  const { machine, sagas } = session;
  await machine.start({
    sagaId: 'asks2',
    sessionId: SESSION,
    messageId: 'm1',
    interactive: { onIdle: 'unwind' },
    requestedBy: 'me',
  });
  await session.submit('kept', 'm1', { sagaId: 'asks2' });
  // The machine asks a person, and that is when the rewind comes.
  await session.submit('mailed', 'm2', { sagaId: 'asks2', tool: 'mail', waitSeconds: 1 });
  await machine.settle();
  expect(await session.carryOut()).toMatchObject({ status: 'REWOUND' });
  const head = await sagas.store.getHead('asks2');
  expect(head?.state).toMatchObject({ status: 'RUNNING', epoch: 1, wait: { kind: 'next-step' } });
  expect(sagas.requests.some(({ tool }) => tool === 'mail')).toBe(false);
  expect(session.undone().some((key) => key.startsWith('asks2'))).toBe(false);
});

test('what a late agent submits while it undoes is taken back too; with the epoch of its session it is refused', async () => {
  const session = await rewindStage({ live: true });
  const epoch = session.stage.session().epoch;
  expect(await session.rewind()).toMatchObject({ status: 'UNDOING' });
  await session.machine.settle();
  expect(await session.rewind()).toMatchObject({ status: 'UNDOING' });
  await session.machine.settle();
  await session.submit('late', 'm2').catch((error: Error) => expect(error.name).toBe('SagaUnwinding'));
  const stale = [
    () => session.submit('stale', 'm2', { epoch }),
    () =>
      session.machine.start({
        sagaId: 'stale',
        plan: { steps: [{ id: 'pay', tool: 'pay', arguments: {} }] },
        input: {},
        sessionId: SESSION,
        messageId: 'm2',
        epoch,
        requestedBy: 'me',
      }),
    () =>
      session.machine.callTool({
        requestId: 'stale',
        tool: 'pay',
        arguments: {},
        sessionId: SESSION,
        messageId: 'm2',
        epoch,
        requestedBy: 'me',
      }),
  ];
  for (const call of stale) await expect(call()).rejects.toMatchObject({ name: 'StaleEpoch' });
  expect(await session.carryOut()).toMatchObject({ status: 'REWOUND' });
  const { state } = await live(session);
  expect(state.effects.filter(({ status }) => status === 'committed')).toHaveLength(1);
  expect(await session.sagas.store.getHead('stale')).toBeUndefined();
});

test('stops at a compensator that fails, with the files untouched, and goes on when it is repaired', async () => {
  let broken = true;
  const session = await rewindStage({
    live: true,
    answer: ({ operation, idempotencyKey }) =>
      broken && operation === 'compensate' && idempotencyKey === 'live:1:undo' ? rejected() : committed(),
  });
  const before = session.files();
  expect(await session.carryOut()).toMatchObject({ status: 'STOPPED' });
  expect(session.files()).toEqual(before);
  expect((await live(session)).state.status).toBe('COMPENSATION_FAILED');
  broken = false;
  await session.machine.operate({ sagaId: 'live', action: 'retry', by: 'fin' });
  await session.machine.settle();
  expect(await session.carryOut()).toMatchObject({ status: 'REWOUND' });
  expect((await live(session)).state).toMatchObject({ status: 'RUNNING', epoch: 1 });
  expect(session.files()['api']).toEqual({ 'a.txt': 'two' });
});

test('steps that another session submitted are found from there, and go back with its rewind', async () => {
  const session = await rewindStage();
  const { machine, sagas } = session;
  await machine.start({
    sagaId: 'handed',
    sessionId: 'other',
    messageId: 'm2',
    interactive: { onIdle: 'unwind' },
    requestedBy: 'me',
  });
  await session.submit('theirs', 'm2', { sagaId: 'handed', sessionId: 'other' });
  await machine.park({ sagaId: 'handed', summary: 'half', sessionId: 'other' });
  await session.submit('ours', 'm2', { sagaId: 'handed' });
  const effects = createSessionEffects(sagas.store);
  const isM2 = ({ messageId }: { messageId: string | null }) => messageId === 'm2';
  const named = (await effects(SESSION, isM2)).filter(({ sagaId }) => sagaId === 'handed');
  expect(named.map(({ step }) => step)).toEqual(['ours']);
  expect(await session.carryOut()).toMatchObject({ status: 'REWOUND' });
  expect(session.undone().filter((key) => key.startsWith('handed'))).toEqual(['handed:1:undo']);
  expect((await sagas.store.getHead('handed'))?.state).toMatchObject({ status: 'RUNNING', epoch: 1 });
});

test('a step before one of another session is not in reach: it is named, and refuses', async () => {
  const session = await rewindStage({ live: true });
  const { machine } = session;
  await machine.park({ sagaId: 'live', summary: 'half', sessionId: SESSION });
  await session.submit('theirs', 'm2', { sessionId: 'other' });
  const planned = await session.rewind({ dryRun: true });
  expect(planned.sagas.some(({ sagaId }) => sagaId === 'live')).toBe(true);
  const plan = planned.sagas.find(({ sagaId }) => sagaId === 'live')?.plan;
  expect(plan?.undo).toEqual([]);
  expect(plan?.stands.map(({ step, reason }) => `${step}: ${reason}`)).toEqual([
    'second: a later step of this saga stays',
    'third: a later step of this saga stays',
  ]);
  await expect(session.rewind()).rejects.toMatchObject({ name: 'PointOfNoReturn' });
  expect(await session.carryOut({ acceptResidue: true, reason: 'it may stay' })).toMatchObject({
    status: 'REWOUND',
  });
  expect(session.undone().some((key) => key.startsWith('live'))).toBe(false);
});
