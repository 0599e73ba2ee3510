/** A deadline of a step's own, in the place of the one that its tool declares. */
import { describe, expect, test } from 'vitest';
import { pinnedSteps } from '../../adapters/aws/sagas/stored-sagas.ts';
import { createEvaluator } from '../../adapters/jsonata/evaluator.ts';
import type { PinnedStep } from '../../core/saga/model/plan.ts';
import type { ToolManifest } from '../../core/saga/model/tool.ts';
import { parseDefinition, parsePlan } from '../../core/saga/plan/catalog.ts';
import { requirePlan } from '../../core/saga/plan/plan-validation.ts';
import {
  committed,
  lost,
  rejected,
  SAGA,
  type ScriptedSagaOptions,
  scriptedSaga,
  scriptedTool,
} from '../support/scripted-saga.ts';

const evaluate = createEvaluator();

const ONCE = { maxAttempts: 1, backoffSeconds: 1, backoffRate: 1, maxBackoffSeconds: 1 };
const compensation = { name: 'undo', timeoutSeconds: 40, retry: ONCE };
/** 30 s for a call, and 40 for its compensator. */
const pay = scriptedTool('pay', 'compensatable', { timeoutSeconds: 30, retry: ONCE, compensation });
const look = scriptedTool('look', 'read', { timeoutSeconds: 30, retry: ONCE });
const far = {
  ...pay,
  name: 'far',
  endpoint: 'https://tools.example/far',
  functionName: 'walkback-http-tool',
};
const TOOLS = [pay, look, far];

const step = (more: object = {}, tool = 'pay') => ({ id: 's', tool, arguments: {}, ...more });
const lookupIn = (tools: readonly ToolManifest[]) => (name: string) => tools.find((one) => one.name === name);
const pinned = (steps: object[]) =>
  requirePlan(parsePlan({ steps }), lookupIn(TOOLS), { input: {}, evaluate });

describe('a step of a plan', () => {
  test('overrides the deadlines that its tool declares, for itself only', async () => {
    const own = { timeoutSeconds: 50, compensation: { timeoutSeconds: 60 } };
    const { steps } = await pinned([step(own), { ...step(), id: 'other' }]);
    expect(steps).toMatchObject([
      { timeoutSeconds: 50, compensation: { ...compensation, timeoutSeconds: 60 } },
      { timeoutSeconds: 30, compensation },
    ]);
  });

  test('is pinned as ever without one', async () => {
    const { steps } = await pinned([step()]);
    expect(steps[0]).not.toHaveProperty('mayRunSeconds');
  });

  test.each([
    ['no time', { timeoutSeconds: 0 }],
    ['more than a tool may declare', { timeoutSeconds: 901 }],
    ['half a second', { timeoutSeconds: 0.5 }],
    ['the same of its compensator', { compensation: { timeoutSeconds: 901 } }],
    ['another policy of its compensator', { compensation: { timeoutSeconds: 5, retry: ONCE } }],
    ['nothing of its compensator', { compensation: {} }],
  ])('with %s is refused', (_, more) => {
    expect(() => parsePlan({ steps: [step(more)] })).toThrow(/timeoutSeconds|compensation|retry/);
  });

  test('of a tool that has no compensator cannot set the deadline of one', async () => {
    await expect(pinned([step({ compensation: { timeoutSeconds: 5 } }, 'look')])).rejects.toMatchObject({
      name: 'PlanRefused',
      message: expect.stringContaining('step s: no-compensator: '),
    });
  });

  test('of a saga below has it too, and so have branches, lists and stored templates', async () => {
    const plan = { steps: [step({ timeoutSeconds: 7 })] };
    const below = (one: object) => pinned([{ id: 'below', ...one }]);
    const template = parseDefinition({
      name: 'stored',
      version: '1',
      description: '',
      reviewBy: '2099-01-01',
      input: {},
      plan,
    });
    const kinds = [
      await below({ saga: { plan } }),
      await below({ branches: [{ id: 'a', plan }] }),
      await below({ each: '{% [1] %}', plan }),
      await requirePlan(
        parsePlan({ steps: [{ id: 'below', saga: { definition: 'stored' } }] }),
        lookupIn(TOOLS),
        { input: {}, evaluate },
        { definitions: () => template },
      ),
    ];
    for (const { plans } of kinds) expect(plans[0]?.steps[0]?.timeoutSeconds).toBe(7);
  });

  test('is read as it was stored, with a deadline of its own and without', async () => {
    const { steps } = await pinned([step({ timeoutSeconds: 7 })]);
    const stored = (one: unknown): PinnedStep[] => pinnedSteps.parse(JSON.parse(JSON.stringify(one)));
    expect(stored(steps)).toEqual(steps);
    const { steps: before } = await pinned([step()]);
    expect(stored(before)).toEqual(before);
  });
});

const running = async (options: Partial<ScriptedSagaOptions> & { step?: object; tool?: string }) => {
  const { step: own = {}, tool = 'pay', ...more } = options;
  const begunMs: number[] = [];
  const answer = options.answer ?? (() => committed());
  const saga = await scriptedSaga({
    tools: TOOLS,
    steps: [step(own, tool)],
    ...more,
    answer: (request, clock) => {
      begunMs.push(clock.nowMs());
      return answer(request, clock);
    },
  });
  await saga.begin();
  /** Of each call: what it was, and how many seconds it had. */
  const given = () =>
    saga.requests.map(
      ({ operation, deadlineMs }, at) => `${operation} ${(deadlineMs - (begunMs[at] ?? 0)) / 1000}`,
    );
  return { ...saga, begunMs, given };
};

describe('the calls of a step', () => {
  const both = { timeoutSeconds: 5, compensation: { timeoutSeconds: 55 } };

  test('have the deadlines of the step, and a saga that looks says so', async () => {
    const saga = await running({
      step: both,
      answer: async () => {
        const { observation } = await saga.seen();
        const { what, until } = observation.doing ?? {};
        told.push(`${what} ${(Date.parse(until ?? '') - saga.clock.nowMs()) / 1000}`);
        return committed();
      },
    });
    const told: string[] = [];
    await saga.machine.settle();
    await saga.machine.operate({ sagaId: SAGA, action: 'undo', by: 'ada' });
    await saga.machine.settle();
    expect(saga.given()).toEqual(['execute 5', 'compensate 55']);
    expect(told).toEqual(['calling 5', 'compensating 55']);
  });

  test('are waited for longer than they may take', async () => {
    const saga = await running({ step: both });
    const state = await saga.machine.begin(SAGA, 1);
    expect(state).toMatchObject({ action: 'INVOKE', timeoutSeconds: 10 });
  });

  test('are recorded with their deadline', async () => {
    const saga = await running({ step: both });
    await saga.machine.settle();
    const { entries } = await saga.seen();
    const started = entries.find(({ direction, status }) => direction === 'forward' && status === 'started');
    if (started === undefined || !('deadlineMs' in started)) throw new Error('it was started');
    expect(started.deadlineMs - Date.parse(started.at)).toBe(5000);
  });

  /** When something is done about a call whose answer was lost, in seconds after it began. */
  const nextAfter = async (own: object, tool = 'pay'): Promise<number> => {
    const saga = await running({
      step: own,
      tool,
      answer: ({ operation }) => (operation === 'execute' ? lost : committed()),
    });
    await saga.machine.settle();
    const { entries } = await saga.sound();
    const settled = entries.find(({ direction, status }) => direction === 'saga' && status === 'unwinding');
    const began = entries.find(({ direction, status }) => direction === 'forward' && status === 'started');
    return (Date.parse(settled?.at ?? '') - Date.parse(began?.at ?? '')) / 1000;
  };

  test('that are lost may act for as long as their function runs, so nothing is done before (S3)', async () => {
    expect(await nextAfter({})).toBe(35);
    // One function serves call and compensator, so the longer of the tool's two counts.
    expect(await nextAfter({ timeoutSeconds: 5 })).toBe(45);
    expect(await nextAfter({ timeoutSeconds: 60 })).toBe(65);
  });

  test('over HTTP are settled by their own deadline, because the function for those ends each, and reads at once', async () => {
    expect(await nextAfter({ timeoutSeconds: 5 }, 'far')).toBe(10);
    expect(await nextAfter({ timeoutSeconds: 5 }, 'look')).toBe(0);
  });

  test('a lost compensator is not called again while its function may run', async () => {
    const tool = { ...pay, compensation: { ...compensation, retry: { ...ONCE, maxAttempts: 2 } } };
    const saga = await running({
      tools: [tool],
      step: { compensation: { timeoutSeconds: 5 } },
      answer: ({ operation, attempt }) => (operation === 'compensate' && attempt === 1 ? lost : committed()),
    });
    await saga.machine.settle();
    await saga.machine.operate({ sagaId: SAGA, action: 'undo', by: 'ada' });
    await saga.machine.settle();
    expect(saga.given()).toEqual(['execute 30', 'compensate 5', 'compensate 5']);
    const [, first = 0, second = 0] = saga.begunMs;
    expect((second - first) / 1000).toBeGreaterThanOrEqual(45);
  });

  test('are not made again with a key that the provider may forget before their function has ended', async () => {
    const tool = {
      ...pay,
      retry: { ...ONCE, maxAttempts: 2 },
      timeoutSeconds: 300,
      idempotencyWindowSeconds: 400,
    };
    const saga = await running({
      tools: [tool],
      step: { timeoutSeconds: 5 },
      answer: ({ operation }) => (operation === 'execute' ? lost : committed()),
    });
    await saga.machine.settle();
    expect(saga.given()).toEqual(['execute 5', 'compensate 40']);
  });
});

describe('a submitted step and a single call', () => {
  const opened = async (options: Partial<ScriptedSagaOptions> = {}) => {
    const saga = await scriptedSaga({ tools: TOOLS, answer: () => committed(), ...options });
    await saga.beginInteractive();
    const submit = (more: object = {}) =>
      saga.machine.submit({ sagaId: SAGA, stepId: 's', tool: 'pay', arguments: {}, ...more });
    const call = (more: object = {}) =>
      saga.machine.callTool({ requestId: 'r', tool: 'pay', arguments: {}, requestedBy: 'me', ...more });
    const secondsOf = (at: number) => ((saga.requests[at]?.deadlineMs ?? 0) - saga.clock.nowMs()) / 1000;
    return { ...saga, submit, call, secondsOf };
  };
  const own = { timeoutSeconds: 7, compensation: { timeoutSeconds: 8 } };

  test('have a deadline of their own, and so has what takes them back', async () => {
    const saga = await opened();
    expect((await saga.submit(own)).step.status).toBe('committed');
    expect(saga.secondsOf(0)).toBe(7);
    expect((await saga.call(own)).step.status).toBe('committed');
    expect(saga.secondsOf(1)).toBe(7);
    const { step: read } = await saga.call({ requestId: 'r-2', tool: 'look', timeoutSeconds: 9 });
    expect(read.status).toBe('committed');
    expect(saga.secondsOf(2)).toBe(9);
    await saga.machine.close({ sagaId: SAGA, outcome: 'unwind' });
    await saga.machine.settle();
    expect(saga.requests[3]).toMatchObject({ operation: 'compensate' });
  });

  test.each([
    ['another deadline', { timeoutSeconds: 8, compensation: { timeoutSeconds: 8 } }],
    ['another one for its compensator', { timeoutSeconds: 7, compensation: { timeoutSeconds: 9 } }],
    ['none', {}],
  ])('with %s under the same id are another request', async (_, other) => {
    const saga = await opened();
    await saga.submit(own);
    await saga.submit(own);
    await expect(saga.submit(other)).rejects.toMatchObject({ name: 'StepConflict' });
    await saga.call(own);
    await saga.call(own);
    await expect(saga.call(other)).rejects.toMatchObject({ name: 'RequestConflict' });
    expect(saga.requests).toHaveLength(2);
  });

  test('the same of a plan is another request', async () => {
    const saga = await scriptedSaga({ tools: TOOLS, answer: () => committed() });
    const start = (more: object) =>
      saga.machine.start({ sagaId: SAGA, plan: { steps: [step(more)] }, input: {}, requestedBy: 'me' });
    await start({ timeoutSeconds: 7 });
    await start({ timeoutSeconds: 7 });
    await expect(start({ timeoutSeconds: 8 })).rejects.toMatchObject({ name: 'RequestConflict' });
  });

  test('cannot set the deadline of a compensator that is not there', async () => {
    const saga = await opened();
    const asked = { tool: 'look', compensation: { timeoutSeconds: 5 } };
    const refused = { name: 'PlanRefused', message: expect.stringContaining('no-compensator') };
    await expect(saga.submit(asked)).rejects.toMatchObject(refused);
    await expect(saga.call(asked)).rejects.toMatchObject(refused);
  });

  test('that may take longer than somebody waits are called by the machine', async () => {
    const saga = await opened();
    expect((await saga.submit({ timeoutSeconds: 20, waitSeconds: 10 })).step.status).toBe('running');
    expect(saga.requests).toEqual([]);
    await saga.machine.settle();
    expect((await saga.submit({ timeoutSeconds: 20 })).step.status).toBe('committed');
  });

  test('a read that is given the longest time ends before the function that makes the call', async () => {
    const saga = await opened({ answer: () => rejected() });
    await saga.call({ tool: 'look', timeoutSeconds: 900 });
    expect(saga.secondsOf(0)).toBeLessThanOrEqual(900 - 10 - 5);
  });
});
