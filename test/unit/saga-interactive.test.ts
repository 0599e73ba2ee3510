import { describe, expect, test } from 'vitest';
import type { ToolRequest } from '../../contract/tool-request.ts';
import type { AskedPolicy } from '../../core/saga/model/interactive.ts';
import { packEffects, unpackEffects } from '../../core/saga/run/pack-state.ts';
import { errorOf } from '../support/error-of.ts';
import {
  committed,
  lost,
  rejected,
  SAGA,
  type ScriptedSagaOptions,
  scriptedSaga,
  scriptedTool,
} from '../support/scripted-saga.ts';

const TOOLS = [
  scriptedTool('look', 'read'),
  scriptedTool('pay', 'compensatable'),
  scriptedTool('ship', 'compensatable', { probe: true }),
  scriptedTool('mail', 'irreversible'),
];

type Saga = Awaited<ReturnType<typeof scriptedSaga>>;

const opened = async (
  options: Partial<ScriptedSagaOptions> = {},
  policy?: AskedPolicy,
): Promise<
  Saga & { submit: (step: string, tool: string, more?: object) => ReturnType<Saga['machine']['submit']> }
> => {
  const saga = await scriptedSaga({ tools: TOOLS, answer: () => committed({ ok: true }), ...options });
  await saga.beginInteractive(policy);
  const submit = (stepId: string, tool: string, more: object = {}) =>
    saga.machine.submit({ sagaId: SAGA, stepId, tool, arguments: {}, ...more });
  return { ...saga, submit };
};

/** Step `two` is in doubt, and cannot be taken back. */
const stuckAtTwo = async () => {
  const saga = await opened({
    answer: ({ step, operation }) => {
      if (step !== 'two') return committed();
      return operation === 'execute' ? lost : rejected();
    },
  });
  await saga.submit('one', 'pay');
  await saga.submit('two', 'pay', { waitSeconds: 20 });
  await saga.machine.settle();
  return saga;
};

/** What holds after every test: the ledger folds to the head, the chain holds, and effects survive packing. */
const expectSound = async (saga: Saga) => {
  const { state } = await saga.sound();
  expect(unpackEffects(packEffects(state.effects))).toEqual(state.effects);
};

const executed = ({ requests }: Saga) =>
  requests.map(({ operation, step }: ToolRequest) => `${operation} ${step}`);

describe('an interactive saga', () => {
  test('takes steps one by one, without an execution, until it is closed', async () => {
    const saga = await opened();
    const first = await saga.submit('one', 'look');
    expect(first).toMatchObject({
      step: { stepId: 'one', status: 'committed', result: { ok: true } },
      saga: { status: 'RUNNING', interactive: { what: 'next-step', step: 'one' } },
    });
    expect((await saga.submit('two', 'pay', { arguments: { amount: 4 } })).step.status).toBe('committed');
    expect(saga.machine.counts.transitions).toBe(0);
    expect(await saga.machine.engine.look(SAGA, 1)).toBe('missing');
    await expect(saga.machine.close({ sagaId: SAGA, outcome: 'complete' })).resolves.toMatchObject({
      status: 'COMPLETED',
    });
    const { story, observation } = await saga.seen();
    expect(story).toEqual([
      'saga started',
      'step submitted',
      'forward started',
      'forward committed',
      'step submitted',
      'forward started',
      'forward committed',
      'saga completed',
    ]);
    expect(observation.committed.map(({ step }) => step)).toEqual(['two']);
    await expectSound(saga);
  });

  test('gives each step a key of its own, and the arguments as they are', async () => {
    const saga = await opened();
    await saga.submit('one', 'pay', { arguments: { note: '{% input.secret %}' } });
    await saga.submit('two', 'pay');
    expect(saga.requests.map(({ idempotencyKey }) => idempotencyKey)).toEqual([`${SAGA}:0`, `${SAGA}:1`]);
    expect(saga.requests[0]?.arguments).toEqual({ note: '{% input.secret %}' });
    await expectSound(saga);
  });

  test('takes everything back in reverse order when it is closed so', async () => {
    const saga = await opened();
    for (const step of ['one', 'two', 'three']) await saga.submit(step, 'pay', { arguments: { step } });
    await saga.machine.close({ sagaId: SAGA, outcome: 'unwind', reason: 'another way' });
    await saga.machine.settle();
    expect(executed(saga).slice(3)).toEqual(['compensate three', 'compensate two', 'compensate one']);
    expect(saga.requests.slice(3).map((request) => request.arguments)).toEqual([
      { step: 'three' },
      { step: 'two' },
      { step: 'one' },
    ]);
    const { observation } = await saga.seen();
    expect(observation).toMatchObject({
      status: 'COMPENSATED',
      failed: { error: { name: 'Cancelled' }, by: 'me', reason: 'another way' },
    });
    await expectSound(saga);
  });

  test('tells a rejection and waits for something else', async () => {
    const saga = await opened({
      answer: ({ step }) => (step === 'two' ? rejected() : committed()),
    });
    await saga.submit('one', 'pay');
    const answer = await saga.submit('two', 'pay');
    expect(answer.step).toEqual({
      stepId: 'two',
      status: 'rejected',
      error: { name: 'Refused', message: 'no' },
    });
    expect(answer.saga).toMatchObject({
      status: 'RUNNING',
      committed: [{ step: 'one' }],
      rejected: [{ step: 'two', error: { name: 'Refused' } }],
    });
    expect((await saga.submit('three', 'pay')).step.status).toBe('committed');
    await saga.machine.close({ sagaId: SAGA, outcome: 'unwind' });
    await saga.machine.settle();
    expect(executed(saga).slice(3)).toEqual(['compensate three', 'compensate one']);
    await expectSound(saga);
  });

  test('the same step again is told what became of it; with other arguments it is StepConflict', async () => {
    const saga = await opened();
    const first = await saga.submit('one', 'pay', { arguments: { amount: 4 } });
    await saga.submit('two', 'pay');
    expect((await saga.submit('one', 'pay', { arguments: { amount: 4 } })).step).toEqual(first.step);
    // Also for another message: after a restart a call is made again for the message that it goes on under.
    const later = { arguments: { amount: 4 }, sessionId: 's', messageId: 'later' };
    expect((await saga.submit('one', 'pay', later)).step).toEqual(first.step);
    expect(saga.requests).toHaveLength(2);
    for (const other of [{ arguments: { amount: 5 } }, { arguments: { amount: 4 }, version: '1' }]) {
      await expect(saga.submit('one', 'pay', other)).rejects.toMatchObject({ name: 'StepConflict' });
    }
    await expect(saga.submit('one', 'look', { arguments: { amount: 4 } })).rejects.toMatchObject({
      name: 'StepConflict',
    });
    await expectSound(saga);
  });
});

describe('a step in doubt', () => {
  test('is settled by its probe, by the machine, and then the saga goes on', async () => {
    const saga = await opened({
      answer: ({ step, operation }) => (step === 'two' && operation === 'execute' ? lost : committed()),
    });
    await saga.submit('one', 'pay');
    expect((await saga.submit('two', 'ship', { waitSeconds: 20 })).step.status).toBe('running');
    await saga.machine.settle();
    expect((await saga.submit('two', 'ship')).step.status).toBe('committed');
    expect((await saga.submit('three', 'pay')).step.status).toBe('committed');
    await expectSound(saga);
  });

  test('that cannot be settled is taken back alone, and told so', async () => {
    const saga = await opened({
      answer: ({ step, operation }) => (step === 'two' && operation === 'execute' ? lost : committed()),
    });
    await saga.submit('one', 'pay');
    await saga.submit('two', 'pay', { waitSeconds: 20 });
    await saga.machine.settle();
    const again = await saga.submit('two', 'pay');
    expect(again.step).toMatchObject({ status: 'undone', error: { name: 'States.Timeout' } });
    expect(again.saga).toMatchObject({
      status: 'RUNNING',
      committed: [{ step: 'one' }],
      compensated: [{ step: 'two' }],
      interactive: { what: 'next-step' },
    });
    expect((await saga.submit('three', 'pay')).step.status).toBe('committed');
    await saga.machine.close({ sagaId: SAGA, outcome: 'unwind' });
    await saga.machine.settle();
    expect(executed(saga).filter((one) => one.startsWith('compensate'))).toEqual([
      'compensate two',
      'compensate three',
      'compensate one',
    ]);
    await expectSound(saga);
  });

  test('whose compensator fails stops the saga, until an operator has worked it', async () => {
    const saga = await stuckAtTwo();
    expect(await saga.submit('two', 'pay')).toMatchObject({
      step: { status: 'failed' },
      saga: {
        status: 'COMPENSATION_FAILED',
        committed: [{ step: 'one' }],
        notCompensated: [{ step: 'two', reason: 'compensation failed: Refused: no' }],
      },
    });
    await expect(saga.submit('three', 'pay')).rejects.toMatchObject({ name: 'SagaUnwinding' });
    expect(saga.machine.alerts).toHaveLength(1);
    const evidence = 'taken back by hand';
    await saga.machine.operate({ sagaId: SAGA, action: 'resolve', stepId: 'two', by: 'fin', evidence });
    await saga.machine.settle();
    expect((await saga.submit('two', 'pay')).step.status).toBe('undone');
    expect((await saga.submit('three', 'pay')).step.status).toBe('committed');
    expect((await saga.machine.close({ sagaId: SAGA, outcome: 'complete' })).status).toBe('COMPLETED');
    await expectSound(saga);
  });

  test('that took effect with a bad result is taken back alone', async () => {
    const error = { name: 'InvalidResult', message: 'not its schema' };
    const bad = { Payload: { outcome: 'committed', result: null, error } };
    const saga = await opened({
      answer: ({ step, operation }) => (step === 'two' && operation === 'execute' ? bad : committed()),
    });
    await saga.submit('one', 'pay');
    await saga.submit('two', 'pay', { waitSeconds: 20 });
    await saga.machine.settle();
    expect((await saga.submit('two', 'pay')).step).toMatchObject({ status: 'undone', error });
    expect(executed(saga)).toEqual(['execute one', 'execute two', 'compensate two']);
    await expectSound(saga);
  });
});

describe('a step that one call does not settle', () => {
  test('is tried again by the machine', async () => {
    let tries = 0;
    const saga = await opened({
      answer: () => {
        tries += 1;
        return tries < 3 ? rejected(true) : committed();
      },
    });
    expect((await saga.submit('one', 'pay', { waitSeconds: 1 })).step.status).not.toBe('committed');
    await saga.machine.settle();
    expect((await saga.submit('one', 'pay')).step.status).toBe('committed');
    expect(tries).toBe(3);
    expect(saga.machine.counts.transitions).toBeGreaterThan(0);
    expect((await saga.submit('two', 'pay')).step.status).toBe('committed');
    await expectSound(saga);
  });

  test('is called by the machine from the start when its tool may take longer than the caller waits', async () => {
    const saga = await opened();
    expect((await saga.submit('one', 'pay', { waitSeconds: 14 })).step.status).toBe('running');
    expect(saga.requests).toHaveLength(0);
    await saga.machine.settle();
    expect((await saga.submit('one', 'pay')).step.status).toBe('committed');
    expect(saga.requests).toHaveLength(1);
    // The next one has time enough, and no execution is left of the one before.
    const before = saga.machine.counts.transitions;
    expect((await saga.submit('two', 'pay', { waitSeconds: 16 })).step.status).toBe('committed');
    expect(saga.machine.counts.transitions).toBe(before);
    await expectSound(saga);
  });
});

describe('turning back', () => {
  test('a rewind takes back the later steps and waits for the next one, with keys of the next epoch', async () => {
    const saga = await opened();
    for (const step of ['one', 'two', 'three']) await saga.submit(step, 'pay');
    const asked = { sagaId: SAGA, requestId: 'r', to: { stepId: 'one' }, by: 'ada', guidance: 'other way' };
    await saga.machine.rewind(asked);
    await saga.machine.settle();
    expect(executed(saga).slice(3)).toEqual(['compensate three', 'compensate two']);
    const seen = (await saga.seen()).observation;
    expect(seen).toMatchObject({
      status: 'RUNNING',
      committed: [{ step: 'one' }],
      interactive: { what: 'next-step' },
    });
    expect((await saga.submit('two', 'pay')).step.status).toBe('undone');
    expect((await saga.submit('four', 'pay')).step.status).toBe('committed');
    expect(saga.requests.at(-1)?.idempotencyKey).toBe(`${SAGA}:3@1`);
    await saga.machine.close({ sagaId: SAGA, outcome: 'unwind' });
    await saga.machine.settle();
    expect(executed(saga).slice(-2)).toEqual(['compensate four', 'compensate one']);
    expect((await saga.seen()).state.status).toBe('COMPENSATED');
    await expectSound(saga);
  });

  test('while a rewind is under way, a step that it leaves alone is told as it stands', async () => {
    const saga = await opened();
    for (const step of ['one', 'two']) await saga.submit(step, 'pay');
    await saga.machine.rewind({ sagaId: SAGA, requestId: 'r', to: { stepId: 'one' }, by: 'ada' });
    const told = async (step: string) => (await saga.submit(step, 'pay', { waitSeconds: 0 })).step.status;
    expect([await told('one'), await told('two')]).toEqual(['committed', 'running']);
    // Given up, it takes back everything.
    await saga.machine.operate({ sagaId: SAGA, action: 'cancel', by: 'ada' });
    expect([await told('one'), await told('two')]).toEqual(['running', 'running']);
    await saga.machine.settle();
    expect([await told('one'), await told('two')]).toEqual(['undone', 'undone']);
    await expectSound(saga);
  });

  test('so many of the last steps are those that stand, also after an earlier rewind', async () => {
    const saga = await opened({ answer: ({ step }) => (step === 'no' ? rejected() : committed()) });
    for (const step of ['one', 'two', 'three', 'no']) await saga.submit(step, 'pay');
    const back = async (requestId: string, steps: number) => {
      await saga.machine.rewind({ sagaId: SAGA, requestId, to: { steps }, by: 'ada' });
      await saga.machine.settle();
      return executed(saga).at(-1);
    };
    expect(await back('first', 1)).toBe('compensate three');
    expect(await back('second', 1)).toBe('compensate two');
    await saga.submit('four', 'look');
    await expect(back('third', 3)).rejects.toMatchObject(errorOf('InvalidInput', '2 steps that stand'));
    expect(await back('fourth', 2)).toBe('compensate one');
    expect((await saga.submit('five', 'pay')).step.status).toBe('committed');
    await expectSound(saga);
  });

  test('a rewind brings no plan to a saga that has none', async () => {
    const saga = await opened({ answer: ({ step }) => (step === 'no' ? rejected() : committed()) });
    for (const step of ['one', 'no', 'two']) await saga.submit(step, 'pay');
    const plan = { steps: [{ id: 'other', tool: 'pay', arguments: {} }] };
    for (const to of [{ steps: 1 }, { steps: 2 }, { stepId: 'one' }]) {
      await expect(
        saga.machine.rewind({ sagaId: SAGA, requestId: 'r', to, plan, by: 'ada' }),
      ).rejects.toMatchObject(errorOf('PlanRefused', 'its steps are submitted'));
    }
    expect((await saga.seen()).state.epoch).toBe(0);
  });

  test('a closed saga is undone by an operator', async () => {
    const saga = await opened();
    for (const step of ['one', 'two']) await saga.submit(step, 'pay');
    await saga.machine.close({ sagaId: SAGA, outcome: 'complete' });
    await saga.machine.operate({ sagaId: SAGA, action: 'undo', by: 'ada' });
    await saga.machine.settle();
    expect(executed(saga).slice(2)).toEqual(['compensate two', 'compensate one']);
    expect((await saga.seen()).state.status).toBe('COMPENSATED');
    await expectSound(saga);
  });

  test('a step that could not be taken back does not keep an unwinding from the rest', async () => {
    const saga = await stuckAtTwo();
    await saga.machine.close({ sagaId: SAGA, outcome: 'unwind' });
    await saga.machine.settle();
    const { observation } = await saga.seen();
    expect(observation).toMatchObject({
      status: 'COMPENSATION_FAILED',
      compensated: [{ step: 'one' }],
      notCompensated: [{ step: 'two' }],
    });
    await expectSound(saga);
  });
});
