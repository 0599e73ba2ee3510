/** One call without a plan, and short plans, driven without an execution. */
import { describe, expect, test } from 'vitest';
import type { Invoked } from '../../core/saga/ports.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { Crash } from '../../kit/testing/saga-machine.ts';
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
  scriptedTool('mail', 'irreversible'),
];

const throttled: Invoked = { Error: 'Lambda.TooManyRequestsException', Cause: 'Rate exceeded' };
const ONCE = { maxAttempts: 1, backoffSeconds: 0, backoffRate: 1, maxBackoffSeconds: 0 };

const opened = async (options: Partial<ScriptedSagaOptions> = {}) => {
  const saga = await scriptedSaga({ tools: TOOLS, answer: () => committed({ ok: true }), ...options });
  const call = (tool: string, more: object = {}) =>
    saga.machine.callTool({ requestId: 'r-1', tool, arguments: { amount: 4 }, requestedBy: 'me', ...more });
  const headOf = async (sagaId: string | null) => (await saga.store.getHead(sagaId ?? ''))?.state;
  return { ...saga, call, headOf };
};

describe('a single call', () => {
  test('is a saga that ends with its step, without an execution; again it is the same', async () => {
    const saga = await opened();
    const first = await saga.call('pay');
    expect(first.step).toMatchObject({ status: 'committed', result: { ok: true } });
    expect(await saga.headOf(first.sagaId)).toMatchObject({ status: 'COMPLETED' });
    expect(await saga.call('pay')).toEqual(first);
    expect(saga.requests).toHaveLength(1);
    expect(saga.machine.counts.transitions).toBe(0);
    await saga.machine.operate({ sagaId: first.sagaId ?? '', action: 'undo', by: 'ada' });
    await saga.machine.settle();
    expect(saga.requests.map(({ operation }) => operation)).toEqual(['execute', 'compensate']);
  });

  test.each([
    ['other arguments', { arguments: { amount: 5 } }],
    ['another tool', { tool: 'mail' }],
  ])('with %s under the same id is RequestConflict', async (_, more) => {
    const saga = await opened();
    await saga.call('pay');
    await expect(saga.call('pay', more)).rejects.toMatchObject({ name: 'RequestConflict' });
    expect(saga.requests).toHaveLength(1);
  });

  test('that is rejected leaves nothing', async () => {
    const saga = await opened({ answer: () => rejected() });
    const { sagaId, step } = await saga.call('pay');
    expect(step).toMatchObject({ status: 'rejected', error: { name: 'Refused' } });
    expect(await saga.headOf(sagaId)).toMatchObject({ status: 'COMPENSATED' });
  });

  test('that is in doubt is settled by the machine, and taken back when nobody can say', async () => {
    const saga = await opened({
      answer: ({ operation }) => (operation === 'execute' ? lost : committed()),
    });
    expect((await saga.call('pay', { waitSeconds: 20 })).step.status).toBe('running');
    await saga.machine.settle();
    const { sagaId, step } = await saga.call('pay');
    expect(step.status).toBe('undone');
    expect(await saga.headOf(sagaId)).toMatchObject({ status: 'COMPENSATED' });
  });

  test('of a read writes no ledger, and is tried again within its budget', async () => {
    let tries = 0;
    const saga = await opened({
      answer: () => {
        tries += 1;
        return tries === 1 ? lost : tries === 2 ? rejected(true) : committed({ found: 1 });
      },
    });
    const called = await saga.call('look');
    expect(called).toMatchObject({ sagaId: null, step: { status: 'committed', result: { found: 1 } } });
    expect(saga.requests.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect((await saga.store.listByStatus('COMPLETED', 10)).items).toEqual([]);
  });

  test('of a read that is crowded out is made again for as long as it has time, and uses up no attempt', async () => {
    let refused = 0;
    const saga = await opened({
      tools: [scriptedTool('look', 'read', { retry: ONCE })],
      answer: () => ((refused += 1) <= 4 ? throttled : committed({ found: 1 })),
    });
    expect((await saga.call('look', { waitSeconds: 60 })).step).toMatchObject({ status: 'committed' });
    refused = Number.NEGATIVE_INFINITY;
    const never = await saga.call('look', { requestId: 'r-2', waitSeconds: 60 });
    expect(never.step).toMatchObject({
      status: 'rejected',
      error: { name: 'Lambda.TooManyRequestsException' },
    });
  });

  test('that is crowded out goes to the machine, acts once, and uses up no attempt', async () => {
    let refused = 0;
    const saga = await opened({
      tools: [scriptedTool('pay', 'compensatable', { retry: ONCE })],
      answer: () => ((refused += 1) <= 4 ? throttled : committed({ ok: true })),
    });
    await saga.call('pay', { waitSeconds: 30 });
    await saga.machine.settle();
    expect((await saga.call('pay')).step).toMatchObject({ status: 'committed', result: { ok: true } });
    expect(saga.requests).toHaveLength(5);
  });

  test('whose answer the table has no room for is recorded a little later, and not made again', async () => {
    let refusals = 0;
    const saga = await opened({
      storing: (store) => ({
        ...store,
        append: async (head, version, entries, beside) => {
          const isAnswer = entries.some(
            ({ direction, status }) => direction === 'forward' && status === 'committed',
          );
          if (isAnswer && (refusals += 1) <= 3)
            throw new WalkbackError('Throttled', 'DynamoDB is throttling. Call again.', { retryable: true });
          return store.append(head, version, entries, beside);
        },
      }),
    });
    const { sagaId, step } = await saga.call('pay');
    expect(step).toMatchObject({ status: 'committed' });
    expect(refusals).toBe(4);
    expect(saga.requests).toHaveLength(1);
    expect(saga.machine.counts.transitions).toBe(0);
    expect(await saga.headOf(sagaId)).toMatchObject({ status: 'COMPLETED' });
  });

  test('of a read that is refused for good is not repeated', async () => {
    const saga = await opened({ answer: () => rejected() });
    expect((await saga.call('look')).step).toMatchObject({ status: 'rejected', error: { name: 'Refused' } });
    expect(saga.requests).toHaveLength(1);
  });

  test('of an irreversible tool waits for a person, unless the caller takes it on itself', async () => {
    const saga = await opened();
    expect((await saga.call('mail')).step.status).toBe('awaiting');
    expect(saga.requests).toHaveLength(0);
    const { step } = await saga.call('mail', { requestId: 'r-2', allowIrreversible: true });
    expect(step.status).toBe('committed');
  });

  test('that cannot be made is refused before anything is written', async () => {
    const saga = await opened();
    await expect(saga.call('no_such')).rejects.toMatchObject({ name: 'PlanRefused' });
    expect((await saga.store.listByStatus('RUNNING', 10)).items).toEqual([]);
  });
});

describe('a plan that is driven inline', () => {
  const steps = ['look', 'pay', 'pay2'].map((id) => ({
    id,
    tool: id.replace(/\d/, ''),
    arguments: id === 'pay2' ? { before: '{% steps.pay.result %}' } : {},
  }));
  const start = (saga: Awaited<ReturnType<typeof opened>>) =>
    saga.machine.start({ sagaId: SAGA, plan: { steps }, input: {}, drive: 'inline', requestedBy: 'me' });

  test('is through when the call answers, without an execution', async () => {
    const saga = await opened();
    expect(await start(saga)).toMatchObject({ status: 'COMPLETED' });
    expect(saga.machine.counts.transitions).toBe(0);
    expect(saga.requests.at(-1)?.arguments).toEqual({ before: { ok: true } });
    expect((await saga.seen()).isSound).toBe(true);
    expect(await start(saga)).toMatchObject({ status: 'COMPLETED' });
    expect(saga.requests).toHaveLength(3);
  });

  test('is unwound by the machine when a step is rejected', async () => {
    const saga = await opened({ answer: ({ step }) => (step === 'pay2' ? rejected() : committed()) });
    expect(await start(saga)).toMatchObject({ status: 'COMPENSATING' });
    await saga.machine.settle();
    const { state } = await saga.sound();
    expect(state.status).toBe('COMPENSATED');
    expect(saga.requests.at(-1)).toMatchObject({ operation: 'compensate', step: 'pay' });
  });

  test('takes a slot of its project; when there is none, it is queued and the machine drives it in its turn', async () => {
    const saga = await opened();
    const { machine, store, seen } = saga;
    const limited = { project: 'shop', maxConcurrent: 1 };
    const holder = { interactive: { onIdle: 'unwind' as const }, requestedBy: 'me', ...limited };
    const inline = (sagaId: string) =>
      machine.start({
        sagaId,
        plan: { steps },
        input: {},
        drive: 'inline' as const,
        requestedBy: 'me',
        ...limited,
      });
    expect(await inline('free')).toMatchObject({ status: 'COMPLETED' });
    expect(machine.counts.transitions).toBe(0);
    await machine.start({ sagaId: 'holder', ...holder });
    await machine.submit({ sagaId: 'holder', stepId: 'one', tool: 'pay', arguments: {} });
    expect(await inline(SAGA)).toMatchObject({ status: 'QUEUED' });
    expect(await inline(SAGA)).toMatchObject({ status: 'QUEUED' });
    expect(saga.requests).toHaveLength(4);
    await machine.close({ sagaId: 'holder', outcome: 'complete' });
    expect((await store.getHead(SAGA))?.state).toMatchObject({ status: 'RUNNING', slot: 0 });
    await machine.settle();
    const { state, isSound, story } = await seen();
    expect(state).toMatchObject({ status: 'COMPLETED' });
    expect(story.slice(0, 3)).toEqual(['saga started', 'slot queued', 'slot taken']);
    expect(isSound).toBe(true);
    expect(machine.counts.transitions).toBeGreaterThan(0);
    await expect(
      machine.start({ ...holder, sagaId: 'both', drive: 'inline' as const }),
    ).rejects.toMatchObject({ name: 'InvalidInput' });
  });

  test('goes on by the machine when its function dies', async () => {
    let dies = true;
    const saga = await opened({
      answer: ({ step }) => {
        if (step === 'pay' && dies) {
          dies = false;
          throw new Crash('the function is gone');
        }
        return committed();
      },
    });
    await expect(start(saga)).rejects.toThrow('the function is gone');
    await saga.clock.advance(90_000);
    await saga.machine.settle();
    const { state } = await saga.sound();
    expect(state.status).toBe('COMPLETED');
  });
});
