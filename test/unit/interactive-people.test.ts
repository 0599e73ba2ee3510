/** Interactive sagas: what people decide, what nobody does in time, who is first, and what is refused. */
import { describe, expect, test } from 'vitest';
import type { AskedPolicy } from '../../core/saga/model/interactive.ts';
import { createMeasureSagas } from '../../core/saga/run/measure.ts';
import { createDescribe } from '../../core/saga/view/describe.ts';
import { Crash } from '../../kit/testing/saga-machine.ts';
import { errorOf } from '../support/error-of.ts';
import {
  committed,
  lost,
  SAGA,
  type ScriptedSagaOptions,
  scriptedSaga,
  scriptedTool,
} from '../support/scripted-saga.ts';

const TOOLS = [scriptedTool('pay', 'compensatable'), scriptedTool('mail', 'irreversible')];
const HOUR_MS = 3600_000;

const opened = async (policy: AskedPolicy, options: Partial<ScriptedSagaOptions> = {}) => {
  const saga = await scriptedSaga({ tools: TOOLS, answer: () => committed(), ...options });
  await saga.beginInteractive(policy);
  const submit = (stepId: string, tool: string, more: object = {}) =>
    saga.machine.submit({ sagaId: SAGA, stepId, tool, arguments: {}, ...more });
  const executed = () => saga.requests.map(({ operation, step }) => `${operation} ${step}`);
  return { ...saga, submit, executed };
};

type Saga = Awaited<ReturnType<typeof opened>>;

const expectSound = async (saga: Saga) => expect((await saga.seen()).isSound).toBe(true);

describe('no step for the idle time', () => {
  test('unwinds the saga, and not before', async () => {
    const saga = await opened({ onIdle: 'unwind', idleTimeoutSeconds: 3600 });
    await saga.submit('one', 'pay');
    await saga.clock.advance(HOUR_MS - 60_000);
    await saga.machine.settle();
    expect((await saga.seen()).state.status).toBe('RUNNING');
    await saga.submit('two', 'pay');
    await saga.clock.advance(HOUR_MS);
    await saga.machine.settle();
    const { observation } = await saga.seen();
    expect(observation).toMatchObject({ status: 'COMPENSATED', failed: { error: { name: 'IdleTimeout' } } });
    expect(saga.executed().slice(2)).toEqual(['compensate two', 'compensate one']);
    await expect(saga.submit('three', 'pay')).rejects.toMatchObject({ name: 'SagaClosed' });
    await expectSound(saga);
  });

  test('asks people where the starter wants it, again each day, and goes on with the next step', async () => {
    const saga = await opened({ onIdle: 'ask', idleTimeoutSeconds: 3600 });
    await saga.submit('one', 'pay');
    for (let day = 1; day <= 2; day += 1) {
      await saga.clock.advance(24 * HOUR_MS);
      await saga.machine.settle();
      expect(saga.machine.alerts).toHaveLength(day);
    }
    expect(saga.machine.alerts[0]).toMatchObject({
      action: 'NOTIFY',
      subject: expect.stringContaining(SAGA),
      message: expect.stringContaining(`Look: https://console.test/sagas/${SAGA}\n`),
    });
    expect((await saga.seen()).observation).toMatchObject({
      status: 'AWAITING',
      interactive: { asked: true },
    });
    expect((await saga.submit('two', 'pay')).step.status).toBe('committed');
    expect((await saga.seen()).state.status).toBe('RUNNING');
    await expectSound(saga);
  });

  test('an idle saga is in no measure of sagas that do not end', async () => {
    const saga = await opened({ onIdle: 'unwind', idleTimeoutSeconds: 86_400 });
    await saga.submit('one', 'pay');
    await saga.clock.advance(5 * HOUR_MS);
    const measure = createMeasureSagas({ store: saga.store, clock: saga.clock });
    expect(await measure()).toMatchObject({ UnfinishedSagas: 0, OldestUnfinishedSeconds: 0 });
    await saga.submit('two', 'pay', { waitSeconds: 1 });
    expect(await measure()).toMatchObject({ UnfinishedSagas: 1, OldestUnfinishedSeconds: 1 });
  });
});

describe('an irreversible step', () => {
  const answer = (saga: Saga, decision: 'approve' | 'reject') =>
    saga.machine.answer({ sagaId: SAGA, stepId: 'mail', decision, by: 'ada' });

  test('waits for an approval, and warns of what unwinding leaves', async () => {
    const saga = await opened(
      { onIdle: 'unwind' },
      { onAwait: async () => (await answer(saga, 'approve')) !== undefined },
    );
    await saga.submit('one', 'pay');
    const asked = await saga.submit('mail', 'mail');
    expect(asked).toMatchObject({ step: { status: 'awaiting' }, saga: { awaiting: { step: 'mail' } } });
    expect(saga.executed()).toEqual(['execute one']);
    await saga.machine.settle();
    expect((await saga.submit('mail', 'mail')).step.status).toBe('committed');
    const { warnings } = await saga.submit('two', 'pay');
    expect(warnings).toEqual(['1 irreversible step stands: if this saga is unwound, that stays.']);
    await expectSound(saga);
  });

  test.each(['declined', 'expired'])('that is %s never starts, and the saga goes on', async (how) => {
    const saga = await opened(
      { onIdle: 'unwind', idleTimeoutSeconds: 30 * 86_400 },
      { onAwait: async () => how === 'declined' && (await answer(saga, 'reject')) !== undefined },
    );
    await saga.submit('one', 'pay');
    await saga.submit('mail', 'mail');
    await saga.machine.settle();
    const name = how === 'declined' ? 'ApprovalDeclined' : 'ApprovalExpired';
    const told = await saga.submit('mail', 'mail');
    expect(told.step).toMatchObject({ status: 'rejected', error: { name } });
    expect(told.saga?.rejected).toMatchObject([{ step: 'mail', error: { name } }]);
    expect((await saga.submit('two', 'pay')).step.status).toBe('committed');
    expect(saga.executed()).toEqual(['execute one', 'execute two']);
    await expectSound(saga);
  });

  test('needs none when the starter allowed its tool', async () => {
    const saga = await opened({ onIdle: 'unwind', allowIrreversible: ['mail'] });
    expect((await saga.submit('mail', 'mail')).step.status).toBe('committed');
    await expect(
      saga.machine.start({
        sagaId: 'other',
        interactive: { onIdle: 'unwind', allowIrreversible: ['male'] },
        requestedBy: 'me',
      }),
    ).rejects.toMatchObject({ name: 'InvalidInput', message: expect.stringContaining('male') });
  });

  test('may be allowed where the newest version of its tool can be taken back, for a step that names an older one', async () => {
    const upgraded = { ...scriptedTool('mail', 'compensatable'), version: '2.0.0' };
    const saga = await opened(
      { onIdle: 'unwind', allowIrreversible: ['mail'] },
      { tools: [...TOOLS, upgraded] },
    );
    const [old] = TOOLS.filter(({ name }) => name === 'mail');
    expect((await saga.submit('new', 'mail')).step.status).toBe('committed');
    expect((await saga.submit('old', 'mail', { version: old?.version })).step.status).toBe('committed');
    await expectSound(saga);
  });
});

describe('callers at once', () => {
  test('with the same step: one drives, all are told the same', async () => {
    const saga = await opened({ onIdle: 'unwind' });
    const answers = await Promise.all([1, 2, 3, 4].map(() => saga.submit('one', 'pay')));
    expect(answers.map(({ step }) => step.status)).toEqual(Array.from({ length: 4 }, () => 'committed'));
    expect(saga.executed()).toEqual(['execute one']);
    await expectSound(saga);
  });

  test('with different steps: one is taken, the others are told to wait, and nothing of them is left', async () => {
    const saga = await opened({ onIdle: 'unwind' });
    const answers = await Promise.allSettled(['one', 'two', 'three'].map((step) => saga.submit(step, 'pay')));
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const answer of answers) {
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ name: 'StepInProgress' });
    }
    expect(saga.executed()).toHaveLength(1);
    for (const step of ['one', 'two', 'three']) await saga.submit(step, 'pay');
    expect(saga.executed()).toHaveLength(3);
    await expectSound(saga);
  });
});

describe('a driver that dies', () => {
  test('is replaced when its call can no longer act, without anybody asking', async () => {
    let dies = true;
    const saga = await opened(
      { onIdle: 'unwind' },
      {
        answer: () => {
          if (!dies) return committed();
          dies = false;
          throw new Crash('the function is gone');
        },
      },
    );
    await expect(saga.submit('one', 'pay')).rejects.toThrow('the function is gone');
    // The call may still act, so nobody touches it.
    await saga.machine.settle();
    expect((await saga.seen()).state.generation).toBe(2);
    await saga.clock.advance(60_000);
    await saga.machine.settle();
    expect((await saga.submit('one', 'pay')).step.status).toBe('committed');
    expect((await saga.seen()).state.generation).toBe(3);
    await expectSound(saga);
  });

  test('whose call comes back late is told nothing, because the machine has settled it', async () => {
    const answered = Promise.withResolvers<void>();
    let isFirst = true;
    const saga = await opened(
      { onIdle: 'unwind' },
      {
        answer: async ({ operation }) => {
          if (operation !== 'execute' || !isFirst) return committed();
          isFirst = false;
          await answered.promise;
          return committed({ late: true });
        },
      },
    );
    const late = saga.submit('one', 'pay', { waitSeconds: 16 });
    await expect.poll(() => saga.requests.length).toBe(1);
    await saga.clock.advance(60_000);
    await saga.machine.settle();
    answered.resolve();
    expect((await late).step).toMatchObject({ status: 'committed', result: {} });
    expect(saga.executed()).toEqual(['execute one', 'execute one']);
    await expectSound(saga);
  });

  test('a cancel while a function drives is carried out after its call', async () => {
    const saga = await opened(
      { onIdle: 'unwind' },
      {
        answer: async ({ operation }) => {
          if (operation === 'execute') {
            await saga.machine.operate({ sagaId: SAGA, action: 'cancel', by: 'ada' });
          }
          return committed();
        },
      },
    );
    await saga.submit('one', 'pay', { waitSeconds: 20 });
    await saga.machine.settle();
    expect((await saga.seen()).state.status).toBe('COMPENSATED');
    expect(saga.executed()).toEqual(['execute one', 'compensate one']);
    expect((await saga.submit('one', 'pay')).step.status).toBe('undone');
    await expectSound(saga);
  });
});

describe('a saga that is put aside', () => {
  const park = (saga: Saga, sessionId?: string) =>
    saga.machine.park({ sagaId: SAGA, summary: 'one is paid', ...(sessionId && { sessionId }) });

  test('keeps what it did for as long as it takes, and goes on with a step of another session', async () => {
    const saga = await opened({ onIdle: 'unwind', idleTimeoutSeconds: 3600 });
    await saga.submit('one', 'pay', { sessionId: 'a' });
    expect((await park(saga, 'a')).status).toBe('PARKED');
    expect((await park(saga, 'a')).status).toBe('PARKED');
    await saga.clock.advance(30 * 24 * HOUR_MS);
    await saga.machine.settle();
    const { observation, story } = await saga.seen();
    expect(observation).toMatchObject({
      status: 'PARKED',
      committed: [{ step: 'one' }],
      interactive: { what: 'parked', summary: 'one is paid' },
    });
    expect(story.filter((one) => one === 'saga parked')).toHaveLength(1);
    for (const session of [{}, { sessionId: 'a' }]) {
      await expect(saga.submit('two', 'pay', session)).rejects.toMatchObject({ name: 'SagaParked' });
    }
    expect((await saga.submit('two', 'pay', { sessionId: 'b' })).step.status).toBe('committed');
    expect((await saga.submit('three', 'pay', { sessionId: 'a' })).step.status).toBe('committed');
    await expectSound(saga);
  });

  test('waits for its next step again when an operator resumes it', async () => {
    const saga = await opened({ onIdle: 'unwind', idleTimeoutSeconds: 3600 });
    await park(saga);
    const resume = () => saga.machine.operate({ sagaId: SAGA, action: 'resume', by: 'ada' });
    expect((await resume()).status).toBe('RUNNING');
    expect((await resume()).status).toBe('RUNNING');
    expect((await saga.submit('one', 'pay')).step.status).toBe('committed');
    await expectSound(saga);
  });

  test('is undone when it is closed so, and cannot be completed or parked in the middle of a step', async () => {
    const saga = await opened({ onIdle: 'unwind' });
    await saga.submit('one', 'pay');
    await park(saga);
    await expect(saga.machine.close({ sagaId: SAGA, outcome: 'complete' })).rejects.toMatchObject({
      name: 'SagaParked',
    });
    await saga.machine.close({ sagaId: SAGA, outcome: 'unwind' });
    await saga.machine.settle();
    expect((await saga.seen()).state.status).toBe('COMPENSATED');
    expect(saga.executed()).toEqual(['execute one', 'compensate one']);
    await expect(park(saga)).rejects.toMatchObject({ name: 'SagaClosed' });
    await expectSound(saga);
  });

  test('is not put aside while a step is open', async () => {
    const saga = await opened({ onIdle: 'unwind' }, { answer: () => lost });
    await saga.submit('one', 'pay', { waitSeconds: 20 });
    await expect(park(saga)).rejects.toMatchObject({ name: 'StepInProgress' });
  });
});

test('the settled projection shows a saga as before or after, never between', async () => {
  const saga = await opened({ onIdle: 'unwind' });
  const describeSaga = createDescribe({ store: saga.store, clock: saga.clock });
  await saga.submit('one', 'pay');
  expect(await describeSaga(SAGA)).toMatchObject({ committed: [{ step: 'one' }] });
  expect(await describeSaga(SAGA, 0, 'settled')).toMatchObject({
    status: 'RUNNING',
    committed: [],
    results: [],
  });
  await saga.machine.close({ sagaId: SAGA, outcome: 'complete' });
  expect(await describeSaga(SAGA, 0, 'settled')).toEqual(await describeSaga(SAGA));
});

describe('what is refused', () => {
  const story = async (saga: Saga) => (await saga.seen()).story;

  test.each([
    ['an unknown tool', 'no_such', {}, 'PlanRefused', 'unknown-tool'],
    ['an unknown version', 'pay', { version: '9' }, 'PlanRefused', 'unknown-tool'],
    [
      'arguments that do not fit',
      'strict',
      { arguments: { amount: 'much' } },
      'PlanRefused',
      'arguments-schema',
    ],
    ['arguments that are too large', 'pay', { arguments: { x: 'x'.repeat(40_000) } }, 'PlanRefused', '32768'],
  ])('%s, before anything is written', async (_, tool, more, name, text) => {
    const input = { type: 'object', properties: { amount: { type: 'number' } } };
    const strict = scriptedTool('strict', 'compensatable', {
      schemas: { input, output: {}, compensation: {} },
    });
    const saga = await opened({ onIdle: 'unwind' }, { tools: [...TOOLS, strict] });
    await expect(saga.submit('one', tool, more)).rejects.toMatchObject({
      name,
      message: expect.stringContaining(text),
    });
    expect(await story(saga)).toEqual(['saga started']);
    expect(saga.requests).toEqual([]);
  });

  test('a step while the saga is being undone, and a close that contradicts its end', async () => {
    const saga = await opened({ onIdle: 'unwind' });
    await saga.submit('one', 'pay');
    await saga.machine.close({ sagaId: SAGA, outcome: 'unwind' });
    await expect(saga.submit('two', 'pay')).rejects.toMatchObject({ name: 'SagaUnwinding' });
    const close = (outcome: 'complete' | 'unwind') => saga.machine.close({ sagaId: SAGA, outcome });
    await expect(close('complete')).rejects.toMatchObject({ name: 'SagaUnwinding' });
    await saga.machine.settle();
    await expect(close('complete')).rejects.toMatchObject({ name: 'SagaClosed' });
    await expect(close('unwind')).resolves.toMatchObject({ status: 'COMPENSATED' });
    await expectSound(saga);
  });

  test('a step and an end while the saga is rewound: it goes on, so nobody is to start another', async () => {
    const saga = await opened({ onIdle: 'unwind' });
    await saga.submit('one', 'pay');
    await saga.submit('two', 'pay');
    await saga.machine.rewind({ sagaId: SAGA, requestId: 'r', to: { stepId: 'one' }, by: 'ada' });
    const refused = {
      name: 'SagaUnwinding',
      message: `Saga ${SAGA} is being rewound. When that is through, look at it again and go on from what stands.`,
    };
    await expect(saga.submit('three', 'pay')).rejects.toMatchObject(refused);
    await expect(saga.machine.close({ sagaId: SAGA, outcome: 'complete' })).rejects.toMatchObject(refused);
    await saga.machine.settle();
    expect((await saga.submit('three', 'pay')).step.status).toBe('committed');
    await expectSound(saga);
  });

  test('a close with complete while a step is open', async () => {
    const saga = await opened({ onIdle: 'unwind' }, { answer: () => lost });
    await saga.submit('one', 'pay', { waitSeconds: 20 });
    const close = (outcome: 'complete' | 'unwind') => saga.machine.close({ sagaId: SAGA, outcome });
    await expect(close('complete')).rejects.toMatchObject({ name: 'StepInProgress' });
    await close('unwind');
    await saga.machine.settle();
    await expectSound(saga);
  });

  test('a start with a plan and interactive, and a plan without input', async () => {
    const saga = await opened({ onIdle: 'unwind' });
    const plan = { steps: [{ id: 'one', tool: 'pay', arguments: {} }] };
    const both = { sagaId: 'a', plan, interactive: { onIdle: 'unwind' as const }, requestedBy: 'me' };
    await expect(saga.machine.start(both)).rejects.toMatchObject({ name: 'InvalidInput' });
    const bare = { sagaId: 'a', plan, requestedBy: 'me' };
    await expect(saga.machine.start(bare)).rejects.toMatchObject(errorOf('InvalidInput', 'input'));
    expect(await saga.store.getHead('a')).toBeUndefined();
  });
});
