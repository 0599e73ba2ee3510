/** A rollback names the effects of sagas that it leaves standing (L7). */
import { describe, expect, test } from 'vitest';
import { outsidePart } from '../../console/parts/effects.ts';
import type { RollbackAnswer } from '../../contract/rollback-answers.ts';
import { standingWarning } from '../../core/checkpoint/rollback/tell-effects.ts';
import { isAfterTarget } from '../../core/checkpoint/timeline/after-target.ts';
import { createSagaEffects } from '../../core/saga/ledger/effect-rows.ts';
import { createListSagas } from '../../core/saga/view/list-sagas.ts';
import { createSessionEffects } from '../../core/saga/view/session-effects.ts';
import { MAX_PAGE_BYTES } from '../../core/shared/answer-size.ts';
import { jsonBytes } from '../../core/shared/json-bytes.ts';
import { runCommand } from '../support/recording-app.ts';
import { committed, rejected, SAGA, scriptedSaga, scriptedTool } from '../support/scripted-saga.ts';

const node = (seq: number, parentSeq: number | null, messageId: string | null) => ({
  seq,
  parentSeq,
  messageId,
  messageOrder: messageId === null ? null : Number(messageId.slice(1)),
  checkpointId: `cp-${seq}`,
  complete: true,
  reason: 'manual',
  detached: false,
  createdAt: '2026-01-01T12:00:00.000Z',
});

test('one effect stands, and more of them stand', () => {
  expect(standingWarning(1)).toMatch(/^1 effect of a saga after the target stands:/);
  expect(standingWarning(2)).toMatch(/^2 effects of sagas after the target stand:/);
});

describe('which sagas came after a checkpoint', () => {
  // m1 and m2 follow each other; a rollback to m1 left m2 behind, and m3 came.
  const tree = [node(1, null, null), node(2, 1, 'm1'), node(3, 2, 'm2'), node(4, 2, 'm1'), node(5, 4, 'm3')];
  const target = { seq: 4, createdAt: '2026-01-02T00:00:00.000Z' };
  const isAfter = isAfterTarget(tree, target);
  const earlier = '2026-01-01T00:00:00.000Z';
  const later = '2026-01-03T00:00:00.000Z';

  test.each([
    ['a message that the target holds', { messageId: 'm1', createdAt: later }, false],
    ['a later message', { messageId: 'm3', createdAt: earlier }, true],
    ['a message of a way that was left', { messageId: 'm2', createdAt: earlier }, true],
    ['a message without a checkpoint, later', { messageId: 'm9', createdAt: later }, true],
    ['a message without a checkpoint, earlier', { messageId: 'm9', createdAt: earlier }, false],
    ['no message, later', { messageId: null, createdAt: later }, true],
    ['no message, earlier', { messageId: null, createdAt: earlier }, false],
  ])('one of %s', (_, saga, expected) => {
    expect(isAfter(saga)).toBe(expected);
  });
});

test('what a provider refused never happened, and is told as that', async () => {
  const saga = await scriptedSaga({
    tools: [scriptedTool('pay', 'compensatable'), scriptedTool('mail', 'irreversible')],
    answer: ({ tool }) => (tool === 'mail' ? rejected() : committed()),
  });
  const steps = ['pay', 'mail'].map((tool) => ({ id: tool, tool, arguments: {} }));
  await saga.machine.start({
    sagaId: 'one',
    plan: { steps },
    input: {},
    sessionId: 'session',
    messageId: 'm1',
    requestedBy: 'me',
  });
  await saga.machine.settle();
  const { effects = [] } = await createListSagas(saga)({ sessionId: 'session' });
  expect(effects.map(({ step, stands, rejected: refused }) => [step, stands, refused])).toEqual([
    ['pay', false, undefined],
    ['mail', false, true],
  ]);
  const page = String(await outsidePart({ effects, sagas: [] }));
  expect(page.match(/badge [a-z]+">[a-z ]+</g)).toEqual([
    'badge calm">undone<',
    'badge plain">did not happen<',
  ]);
});

test('what the sagas of a session did is told in pages that an answer can hold', async () => {
  const saga = await scriptedSaga({
    tools: [scriptedTool('pay', 'compensatable')],
    answer: () => ({ Payload: { outcome: 'committed', result: {}, externalRef: '\u6f22'.repeat(500) } }),
  });
  const steps = Array.from({ length: 90 }, (_, n) => ({ id: `pay-${n}`, tool: 'pay', arguments: {} }));
  const ids = Array.from({ length: 10 }, (_, n) => `saga-${n}`);
  for (const sagaId of ids) {
    const start = {
      sagaId,
      plan: { steps },
      input: {},
      sessionId: 'session',
      messageId: 'm1',
      requestedBy: 'me',
    };
    await saga.machine.start(start);
  }
  await saga.machine.settle();
  const list = createListSagas(saga);
  for (const messageId of [{}, { messageId: 'm1' }]) {
    const told: string[] = [];
    let count = 0;
    let cursor: string | undefined;
    do {
      const page = await list({
        sessionId: 'session',
        ...messageId,
        ...(cursor === undefined ? {} : { cursor }),
      });
      expect(jsonBytes(page)).toBeLessThan(1.1 * MAX_PAGE_BYTES);
      told.push(...page.sagas.map(({ sagaId }) => sagaId));
      count += page.effects?.length ?? 0;
      ({ cursor } = page);
    } while (cursor !== undefined);
    expect(told.toSorted()).toEqual(ids);
    expect(count).toBe(steps.length * ids.length);
  }
});

/** A saga with one effect, whose compensator says this of what stays. */
const undoneWith = async (residue: string) => {
  const saga = await scriptedSaga({
    tools: [scriptedTool('part', 'partial')],
    answer: ({ operation }) =>
      operation === 'compensate' ? { Payload: { outcome: 'committed', result: null, residue } } : committed(),
  });
  const plan = { steps: [{ id: 'part', tool: 'part', arguments: {} }] };
  await saga.machine.start({ sagaId: SAGA, plan, input: {}, sessionId: 'session', requestedBy: 'me' });
  await saga.machine.settle();
  await saga.machine.operate({ sagaId: SAGA, action: 'undo', by: 'ada' });
  await saga.machine.settle();
  const { effects = [] } = await createListSagas(saga)({ sessionId: 'session' });
  return { ...(await saga.seen()), effects };
};

test('what was undone in part says what stays', async () => {
  const { effects } = await undoneWith('the fee stays');
  expect(effects).toMatchObject([{ stands: false, residue: 'the fee stays' }]);
  expect(String(await outsidePart({ effects, sagas: [] }))).toMatch(/undone in part<.*the fee stays/s);
});

test.each(['', ' '])('what says %j of what stays was undone, all of it', async (residue) => {
  const { entries, effects, observation } = await undoneWith(residue);
  expect(effects).toMatchObject([{ stands: false }]);
  expect(observation.compensated).toEqual([{ step: 'part', tool: 'part', externalRef: null }]);
  expect(observation.advice).not.toContain('residue');
  const rows = createSagaEffects();
  for (const entry of entries) rows.add(entry);
  expect(rows.end().committed).toMatchObject([{ row: { status: 'undone', residue: null } }]);
  expect(String(await outsidePart({ effects, sagas: [] }))).not.toContain('in part');
});

test('the effects of a session that stand: not what was read or undone, and of no other session', async () => {
  const saga = await scriptedSaga({
    tools: [
      scriptedTool('look', 'read'),
      scriptedTool('pay', 'compensatable'),
      scriptedTool('mail', 'irreversible'),
    ],
    answer: () => committed(),
  });
  const plan = (...names: string[]) => ({ steps: names.map((tool) => ({ id: tool, tool, arguments: {} })) });
  const start = (sagaId: string, sessionId: string, names: string[]) =>
    saga.machine.start({
      sagaId,
      plan: plan(...names),
      input: {},
      sessionId,
      messageId: 'm1',
      requestedBy: 'me',
    });
  await start('one', 'session', ['look', 'pay', 'mail']);
  await start('two', 'session', ['pay']);
  await start('elsewhere', 'other', ['pay']);
  await saga.machine.settle();
  await saga.machine.operate({ sagaId: 'two', action: 'undo', by: 'ada' });
  await saga.machine.settle();
  const effects = createSessionEffects(saga.store);
  const seen: unknown[] = [];
  const standing = await effects('session', (place) => seen.push(place) > 0);
  expect(seen).toMatchObject([{ messageId: 'm1' }, { messageId: 'm1' }]);
  const common = { sagaId: 'one', status: 'COMPLETED', messageId: 'm1', externalRef: null };
  expect(standing).toEqual([
    { ...common, step: 'pay', tool: 'pay', reversible: true },
    { ...common, step: 'mail', tool: 'mail', reversible: false },
  ]);
  expect(await effects('session', () => false)).toEqual([]);
  const list = createListSagas(saga);
  const told = await list({ sessionId: 'session', messageId: 'm1' });
  expect(told.effects).toEqual([
    { ...common, step: 'pay', tool: 'pay', reversible: true, stands: true },
    { ...common, step: 'mail', tool: 'mail', reversible: false, stands: true },
    {
      ...common,
      sagaId: 'two',
      status: 'COMPENSATED',
      step: 'pay',
      tool: 'pay',
      reversible: true,
      stands: false,
    },
  ]);
  expect(told.sagas.map(({ sagaId }) => sagaId)).toEqual(['one', 'two']);
  expect(await list({ sessionId: 'session', messageId: 'm9' })).toEqual({ sagas: [], effects: [] });
  const first = await list({ sessionId: 'session', limit: 1 });
  expect(first).toMatchObject({ sagas: [{ sagaId: 'one' }], cursor: expect.any(String) });
  const { cursor } = first;
  expect(await list({ sessionId: 'session', limit: 1, cursor })).toMatchObject({
    sagas: [{ sagaId: 'two' }],
  });
  // A place is one among all of the session, so nobody is left out when the first one leaves the status meanwhile.
  expect(await list({ sessionId: 'session', status: 'COMPENSATED', limit: 1, cursor })).toMatchObject({
    sagas: [{ sagaId: 'two' }],
  });
  await expect(list({ sessionId: 'session', cursor: 'x' })).rejects.toMatchObject({ name: 'InvalidInput' });
  expect(await effects('nobody', () => true)).toEqual([]);
  await expect(
    saga.machine.start({ sagaId: SAGA, plan: plan('pay'), input: {}, messageId: 'm1', requestedBy: 'me' }),
  ).rejects.toMatchObject({ name: 'InvalidInput', message: expect.stringContaining('messageId') });
});

test('a saga of before that takes a step of the session while its list is read moves no page', async () => {
  const saga = await scriptedSaga({
    tools: [scriptedTool('pay', 'compensatable')],
    answer: () => committed(),
  });
  const interactive = { onIdle: 'unwind' as const };
  for (const sagaId of ['elsewhere', 'one', 'two', 'three']) {
    const sessionId = sagaId === 'elsewhere' ? 'other' : 'session';
    await saga.machine.start({ sagaId, interactive, sessionId, requestedBy: 'me' });
    await saga.clock.advance(1000);
  }
  const list = createListSagas(saga);
  const first = await list({ sessionId: 'session', limit: 2 });
  const step = { sagaId: 'elsewhere', stepId: 'late', tool: 'pay', arguments: {} };
  await saga.machine.submit({ ...step, sessionId: 'session' });
  const second = await list({ sessionId: 'session', limit: 2, cursor: first.cursor });
  expect([first, second].map(({ sagas }) => sagas.map(({ sagaId }) => sagaId))).toEqual([
    ['one', 'two'],
    ['three'],
  ]);
});

test('a step of an interactive saga belongs to its own message', async () => {
  const saga = await scriptedSaga({
    tools: [scriptedTool('pay', 'compensatable')],
    answer: () => committed(),
  });
  const interactive = { onIdle: 'unwind' as const };
  await saga.machine.start({ sagaId: SAGA, interactive, sessionId: 'session', requestedBy: 'me' });
  for (const messageId of ['m1', 'm2']) {
    const step = { sagaId: SAGA, stepId: `of-${messageId}`, tool: 'pay', arguments: {} };
    await saga.machine.submit({ ...step, sessionId: 'session', messageId });
  }
  const standing = await createSessionEffects(saga.store)('session', ({ messageId }) => messageId === 'm2');
  expect(standing.map(({ step, messageId }) => [step, messageId])).toEqual([['of-m2', 'm2']]);
});

test('the command names them in the plan and in its question', async () => {
  const planned: RollbackAnswer = {
    status: 'PLANNED',
    checkpointId: 'cp-00000001-12345678',
    epoch: 1,
    undoCheckpointId: null,
    repositories: [],
    discardedMessageIds: ['m2'],
    trimAfterMessageId: 'm1',
    effects: [
      {
        sagaId: 'r1',
        status: 'COMPLETED',
        messageId: 'm2',
        step: 'confirm',
        tool: 'mail',
        externalRef: 'mail-7',
        reversible: false,
      },
    ],
    warnings: [],
  };
  const timeline = { session: { sandboxId: 'sb', projectsRoot: '/work' }, checkpoints: [], messages: [] };
  const answers = {
    'walkback-rollback': planned,
    'walkback-timeline': timeline,
    'walkback-list-sessions': { sessions: [{ sessionId: 's', status: 'active', createdAt: '' }] },
  };
  const { stderr, failure } = await runCommand(['rollback', '-s', 's', '--to', 'cp-00000001-12345678'], {
    answers,
    typed: 'no\n',
  });
  expect(failure).toMatchObject({ name: 'NotConfirmed' });
  expect(stderr).toContain('stands: confirm (mail) of saga r1  mail-7  nothing takes it back');
});
