/** Sagas that are put aside: where the files are, who gets the slot, and all those of a session. */
import { describe, expect, test } from 'vitest';
import type { LocksAnswer } from '../../contract/saga-lists.ts';
import { createSaveFiles } from '../../core/checkpoint/take/save-files.ts';
import { createTakeCheckpoint } from '../../core/checkpoint/take/take-checkpoint.ts';
import { createListLocks } from '../../core/saga/view/list-locks.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { createWorkingStage, SESSION } from '../support/fakes/stage.ts';
import { committed, lost, SAGA, scriptedSaga, scriptedTool } from '../support/scripted-saga.ts';

const TOOLS = [
  scriptedTool('pay', 'compensatable'),
  scriptedTool('wire', 'irreversible'),
  scriptedTool('hold', 'compensatable', { resourceKey: 'key', exclusive: true }),
];
const plan = { steps: [{ id: 'pay', tool: 'pay', arguments: {} }] };

const opened = async (saveFiles?: () => Promise<string>) => {
  const saved: { sessionId: string; messageId?: string | undefined }[] = [];
  const saga = await scriptedSaga({
    tools: TOOLS,
    answer: ({ step }) => (step === 'lost' ? lost : committed()),
    saveFiles: async (asked) => {
      saved.push(asked);
      return saveFiles === undefined ? `cp-0000000${saved.length}-0badcafe` : saveFiles();
    },
  });
  const begin = (sagaId = SAGA, more: object = {}) =>
    saga.machine.start({
      sagaId,
      interactive: { onIdle: 'unwind' },
      requestedBy: 'me',
      sessionId: 'a',
      ...more,
    });
  const submit = (sagaId: string, stepId: string, more: object = {}) =>
    saga.machine.submit({ sagaId, stepId, tool: 'pay', arguments: {}, ...more });
  const park = (more: object = {}) => saga.machine.park({ summary: 'half of it', ...more });
  const sagaStatus = async (sagaId: string) => (await saga.store.getHead(sagaId))?.state.status;
  return { ...saga, saved, begin, submit, park, sagaStatus };
};

describe('parking a saga', () => {
  test('takes a checkpoint of its session, and the ledger says where the files are', async () => {
    const { begin, submit, park, saved, seen } = await opened();
    await begin();
    await submit(SAGA, 'one');
    expect(await park({ sagaId: SAGA, messageId: 'm4' })).toEqual({
      sagaId: SAGA,
      status: 'PARKED',
      sagas: [{ sagaId: SAGA, status: 'PARKED' }],
      checkpointId: 'cp-00000001-0badcafe',
      warnings: [],
    });
    expect(saved).toEqual([{ sessionId: 'a', messageId: 'm4', requestId: undefined }]);
    const { entries, isSound } = await seen();
    expect(entries.at(-1)).toMatchObject({ status: 'parked', checkpointId: 'cp-00000001-0badcafe' });
    expect(isSound).toBe(true);
    // Parked already: nothing is saved again, and who did not hear the first answer is told where the files are.
    expect(await park({ sagaId: SAGA })).toMatchObject({
      status: 'PARKED',
      checkpointId: 'cp-00000001-0badcafe',
    });
    expect(saved).toHaveLength(1);
  });

  test('takes none when the caller names one or wants none, or there is no session', async () => {
    for (const [more, checkpointId] of [
      [{ checkpointId: 'cp-00000009-0badcafe' }, 'cp-00000009-0badcafe'],
      [{ checkpoint: false }, undefined],
    ] as const) {
      const { begin, park, saved } = await opened();
      await begin();
      expect((await park({ sagaId: SAGA, ...more })).checkpointId).toBe(checkpointId);
      expect(saved).toEqual([]);
    }
    const { beginInteractive, park, saved } = await opened();
    await beginInteractive();
    expect((await park({ sagaId: SAGA })).status).toBe('PARKED');
    expect(saved).toEqual([]);
  });

  test('is not kept from it by a checkpoint that cannot be taken, and says so', async () => {
    const { begin, park, seen } = await opened(() =>
      Promise.reject(new WalkbackError('SandboxNotFound', 'the sandbox is gone')),
    );
    await begin();
    const { status, checkpointId, warnings } = await park({ sagaId: SAGA });
    expect([status, checkpointId]).toEqual(['PARKED', undefined]);
    expect(warnings).toEqual([expect.stringContaining('SandboxNotFound: the sandbox is gone')]);
    expect((await seen()).entries.at(-1)).not.toHaveProperty('checkpointId');
  });

  test('in the middle of a step is refused before anything is saved', async () => {
    const { begin, submit, park, saved } = await opened();
    await begin();
    await submit(SAGA, 'lost', { waitSeconds: 20 });
    await expect(park({ sagaId: SAGA })).rejects.toMatchObject({ name: 'StepInProgress' });
    expect(saved).toEqual([]);
  });

  test('gives its slot to the next at once, also when who parked it died before', async () => {
    const { begin, submit, park, machine, store } = await opened();
    const limited = { project: 'shop', maxConcurrent: 1 };
    await begin(SAGA, limited);
    await submit(SAGA, 'one');
    const queue = (sagaId: string) =>
      machine.start({ sagaId, plan, input: {}, requestedBy: 'me', ...limited });
    expect((await queue('next')).status).toBe('QUEUED');
    await park({ sagaId: SAGA });
    expect((await store.getHead('next'))?.state.status).toBe('RUNNING');
    await machine.settle();
    expect((await store.getHead('next'))?.state.status).toBe('COMPLETED');
    expect((await store.getHead(SAGA))?.state.status).toBe('PARKED');
  });
});

describe('the same request to park again, when the saga was resumed since', () => {
  const asked = { requestId: 'park-1' };
  const resume = (sagaId: string) => ({ sagaId, action: 'resume' as const, by: 'ada' });

  test('leaves it as it is, and names the checkpoint of that time', async () => {
    for (const more of [{}, { checkpointId: 'cp-00000009-0badcafe' }, { checkpoint: false }]) {
      const { begin, submit, park, machine, seen, saved } = await opened();
      await begin();
      const first = await park({ sagaId: SAGA, ...asked, ...more });
      expect(await park({ sagaId: SAGA, ...asked, ...more })).toEqual(first);
      await machine.operate(resume(SAGA));
      await submit(SAGA, 'two', { sessionId: 'a' });
      const running = { sagaId: SAGA, status: 'RUNNING' };
      expect(await park({ sagaId: SAGA, ...asked, ...more })).toEqual({
        ...first,
        ...running,
        sagas: [running],
      });
      expect(saved.length).toBe('checkpoint' in more || 'checkpointId' in more ? 0 : 1);
      const { isSound, story } = await seen();
      expect([isSound, story.filter((line) => line === 'saga parked')]).toEqual([true, ['saga parked']]);
      await machine.close({ sagaId: SAGA, outcome: 'complete' });
      expect(await park({ sagaId: SAGA, ...asked, ...more })).toMatchObject({ status: 'COMPLETED' });
    }
  });

  test('is told its own checkpoint while another request has it parked; that one parks', async () => {
    const { begin, park, machine } = await opened();
    await begin();
    const first = await park({ sagaId: SAGA, ...asked });
    await machine.operate(resume(SAGA));
    const second = await park({ sagaId: SAGA, requestId: 'park-2' });
    expect([second.status, second.checkpointId]).toEqual(['PARKED', 'cp-00000002-0badcafe']);
    expect(await park({ sagaId: SAGA, ...asked })).toEqual(first);
    expect(await park({ sagaId: SAGA })).toEqual(second);
  });

  test('is recorded also when another request had it parked, and who may go on stays as it was', async () => {
    const { begin, submit, park, machine, seen, saved } = await opened();
    await begin();
    const first = await park({ sagaId: SAGA, ...asked, sessionId: 'a' });
    const other = { sagaId: SAGA, requestId: 'park-2', sessionId: 'b', summary: 'more of it' };
    expect(await park(other)).toEqual(first);
    expect(await park(other)).toEqual(first);
    const { entries, isSound, observation } = await seen();
    expect(entries.filter(({ status }) => status === 'parked')).toMatchObject([
      { requestId: 'park-1', summary: 'half of it', sessionId: 'a' },
      { requestId: 'park-2', summary: 'more of it', sessionId: 'a', checkpointId: first.checkpointId },
    ]);
    expect(observation.interactive).toMatchObject({ summary: 'more of it' });
    await expect(submit(SAGA, 'one', { sessionId: 'a' })).rejects.toMatchObject({ name: 'SagaParked' });
    await machine.operate(resume(SAGA));
    const running = { sagaId: SAGA, status: 'RUNNING' };
    for (const request of [{ ...other }, { sagaId: SAGA, ...asked, sessionId: 'a' }]) {
      expect(await park(request)).toEqual({ ...first, ...running, sagas: [running] });
    }
    expect([saved.length, isSound]).toEqual([1, true]);
  });

  test('of two requests at once, each answer names a checkpoint that the ledger names', async () => {
    const { begin, park, seen } = await opened();
    await begin();
    const answers = await Promise.all(['p', 'q'].map((requestId) => park({ sagaId: SAGA, requestId })));
    const { entries, isSound } = await seen();
    const named = new Set(entries.flatMap((one) => (one.status === 'parked' ? [one.checkpointId] : [])));
    expect(new Set(answers.map(({ checkpointId }) => checkpointId))).toEqual(named);
    expect([named.size, isSound]).toEqual([2, true]);
  });

  test('of a session: what another request had parked is not parked again once it was resumed', async () => {
    const { begin, park, machine } = await opened();
    for (const sagaId of ['one', 'two']) await begin(sagaId);
    await park({ sagaId: 'one', requestId: 'park-0' });
    await park({ sessionId: 'a', ...asked });
    await machine.operate({ sagaId: 'one', action: 'resume', by: 'op' });
    const { sagas } = await park({ sessionId: 'a', ...asked });
    expect(Object.fromEntries(sagas.map(({ sagaId, status }) => [sagaId, status]))).toEqual({
      one: 'RUNNING',
      two: 'PARKED',
    });
  });

  test('of a session: parks what a death before kept from it, and nothing that went on or began since', async () => {
    const { begin, submit, park, machine, store } = await opened();
    for (const sagaId of ['resumed', 'handed', 'closed', 'missed']) await begin(sagaId);
    await submit('missed', 'asks', { tool: 'wire', sessionId: 'a', waitSeconds: 0 });
    const first = await park({ sessionId: 'a', ...asked });
    expect(first.sagas.find(({ error }) => error !== undefined)?.sagaId).toBe('missed');
    // Nobody approves its step, so it waits for another one.
    await machine.settle();
    await machine.operate(resume('resumed'));
    await submit('handed', 'on', { sessionId: 'b' });
    await machine.operate(resume('closed'));
    await machine.close({ sagaId: 'closed', outcome: 'complete' });
    await begin('later');
    const again = await park({ sessionId: 'a', ...asked });
    const statuses = Object.fromEntries(again.sagas.map(({ sagaId, status }) => [sagaId, status]));
    expect(statuses).toEqual({
      resumed: 'RUNNING',
      handed: 'RUNNING',
      closed: 'COMPLETED',
      missed: 'PARKED',
    });
    expect((await store.getHead('later'))?.state.status).toBe('RUNNING');
  });

  test('of a session: what began or went on in the same moment as the first call is not what it meant', async () => {
    const { begin, submit, park, machine, sagaStatus } = await opened();
    for (const sagaId of ['one', 'two']) await begin(sagaId);
    await submit('two', 'asks', { tool: 'wire', sessionId: 'a', waitSeconds: 0 });
    const { sagas } = await park({ sessionId: 'a', ...asked });
    expect(sagas.map(({ sagaId, error }) => [sagaId, error?.name])).toEqual([
      ['one', undefined],
      ['two', 'StepInProgress'],
    ]);
    await begin('later');
    await machine.operate(resume('one'));
    await park({ sessionId: 'a', ...asked });
    expect(await sagaStatus('later')).toBe('RUNNING');
    expect(await sagaStatus('one')).toBe('RUNNING');
  });

  test('asked for twice at once with a resume between, it is parked once', async () => {
    const { begin, park, machine, seen } = await opened();
    await begin();
    const asks = [0, 1, 2, 3].map(() => park({ sagaId: SAGA, ...asked, checkpoint: false }));
    await asks[0];
    await machine.operate(resume(SAGA));
    await Promise.all(asks);
    expect((await seen()).head.state.status).toBe('RUNNING');
  });
});

test('a parked saga keeps its locks, and the list of all locks tells them', async () => {
  const { begin, park, machine, store, clock } = await opened();
  await begin();
  await machine.submit({ sagaId: SAGA, stepId: 'one', tool: 'hold', arguments: { key: 'ben' } });
  await park({ sagaId: SAGA });
  const list = createListLocks({ store, clock });
  const locks: unknown[] = [];
  let cursor: string | undefined;
  do {
    const page: LocksAnswer = await list(cursor === undefined ? {} : { cursor });
    locks.push(...page.locks);
    ({ cursor } = page);
  } while (cursor !== undefined);
  expect(locks).toMatchObject([{ sagaId: SAGA, status: 'PARKED', resourceKey: 'ben' }]);
});

test('a lock that is held all the while is in the list of all locks, also when its saga is parked or resumed meanwhile', async () => {
  const { begin, park, machine, store, clock } = await opened();
  const ids = ['one', 'two', 'three', 'four'];
  for (const sagaId of ids) {
    await begin(sagaId);
    await machine.submit({ sagaId, stepId: 'one', tool: 'hold', arguments: { key: sagaId } });
    await clock.advance(1000);
  }
  await park({ sagaId: 'one', checkpoint: false });
  const list = createListLocks({ store, clock });
  const told: string[] = [];
  let isMoved = false;
  let cursor: string | undefined;
  do {
    const page: LocksAnswer = await list({ limit: 1, ...(cursor === undefined ? {} : { cursor }) });
    told.push(...page.locks.map(({ sagaId, status }) => `${sagaId} ${status}`));
    ({ cursor } = page);
    if (!isMoved && told.length > 0) {
      isMoved = true;
      await clock.advance(1000);
      await park({ sagaId: 'two', checkpoint: false });
      await machine.operate({ sagaId: 'one', action: 'resume', by: 'op' });
    }
  } while (cursor !== undefined);
  expect(told.toSorted()).toEqual([
    'four RUNNING',
    'one PARKED',
    'one RUNNING',
    'three RUNNING',
    'two PARKED',
  ]);
});

describe('parking a session', () => {
  test('puts all interactive sagas aside that it works on, with one checkpoint', async () => {
    const { begin, submit, park, saved, store, machine } = await opened();
    for (const sagaId of ['one', 'two', 'busy', 'closed', 'handed']) await begin(sagaId);
    await begin('theirs', { sessionId: 'b' });
    await machine.start({ sagaId: 'planned', plan, input: {}, sessionId: 'a', requestedBy: 'me' });
    await submit('one', 'first', { sessionId: 'a' });
    await submit('busy', 'lost', { sessionId: 'a', waitSeconds: 20 });
    await machine.close({ sagaId: 'closed', outcome: 'complete' });
    await park({ sagaId: 'handed', sessionId: 'a', checkpoint: false });
    await submit('handed', 'on', { sessionId: 'b' });
    const answer = await park({ sessionId: 'a' });
    expect(answer).toMatchObject({ checkpointId: 'cp-00000001-0badcafe', warnings: [] });
    expect(answer.sagas.toSorted((a, b) => (a.sagaId < b.sagaId ? -1 : 1))).toMatchObject([
      { sagaId: 'busy', error: { name: 'StepInProgress' } },
      { sagaId: 'one', status: 'PARKED' },
      { sagaId: 'two', status: 'PARKED' },
    ]);
    expect(saved).toEqual([{ sessionId: 'a', messageId: undefined, requestId: undefined }]);
    for (const sagaId of ['theirs', 'handed']) {
      expect((await store.getHead(sagaId))?.state.status, sagaId).toBe('RUNNING');
    }
    // The session that took it over parks it.
    expect((await park({ sessionId: 'b' })).sagas.map(({ sagaId }) => sagaId).toSorted()).toEqual([
      'handed',
      'theirs',
    ]);
    await expect(park()).rejects.toMatchObject({ name: 'InvalidInput' });
  });
});

describe('the checkpoint of a session that is put aside', () => {
  test('holds the files as they are, and belongs to the message of the last one or to a given one', async () => {
    const stage = await createWorkingStage();
    const { deps } = stage.instance();
    let made = 0;
    const take = createTakeCheckpoint(deps);
    const save = createSaveFiles({ store: deps.store, random: () => `r${++made}`, checkpoint: take });
    const invocation = { deadlineMs: stage.clock.now().getTime() + 900_000 };
    const first = await save({ sessionId: SESSION }, invocation);
    const second = await save({ sessionId: SESSION, messageId: 'm3' }, invocation);
    expect(first).not.toBe(second);
    const taken = await Promise.all([3, 4].map((seq) => deps.store.getCheckpoint(SESSION, seq + 1)));
    expect(taken.map((one) => [one?.checkpointId, one?.messageId, one?.reason])).toEqual([
      [first, 'm2', 'parked'],
      [second, 'm3', 'parked'],
    ]);
    await expect(save({ sessionId: 'nobody' }, invocation)).rejects.toMatchObject({
      name: 'SessionNotFound',
    });
  });
});
