import { describe, expect, test } from 'vitest';
import { createEvaluator } from '../../adapters/jsonata/evaluator.ts';
import type { SagaEngine, SagaStore } from '../../core/saga/ports.ts';
import { createStartSaga } from '../../core/saga/run/start.ts';
import { createSweep } from '../../core/saga/run/sweep.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { memorySagaStore } from '../../kit/testing/memory-saga-store.ts';
import { Crash } from '../../kit/testing/saga-machine.ts';
import { virtualClock } from '../../kit/testing/virtual-clock.ts';
import { committed, rejected, SAGA, scriptedSaga, scriptedTool } from '../support/scripted-saga.ts';

const MINUTE_MS = 60_000;

/** A saga whose Advance dies each time, until it is repaired. */
const brokenSaga = async () => {
  const broken = { now: true };
  const saga = await scriptedSaga({
    tools: [scriptedTool('pay', 'compensatable'), scriptedTool('ship', 'compensatable')],
    answer: () => committed(),
    storing: (store): SagaStore => ({
      ...store,
      append: async (head, version, entries, beside) => {
        const [first] = entries;
        if (broken.now && first?.actor === 'engine') throw new Crash('a bad release');
        return store.append(head, version, entries, beside);
      },
    }),
  });
  await saga.begin();
  return { broken, ...saga };
};

/** Many hours of sweeping by the clock, until it is tried only once an hour. */
const outage = async ({ machine, clock }: Awaited<ReturnType<typeof brokenSaga>>, minutes: number) => {
  let tries = 0;
  for (let minute = 0; minute < minutes; minute += 1) {
    await machine.settle();
    const { resumed } = await machine.sweep();
    tries += resumed.length;
    await clock.advance(MINUTE_MS);
  }
  await machine.settle();
  return tries;
};

describe('a saga whose executions die each time', () => {
  test('is tried later and later, never given up, and goes on by itself once the cause is mended', async () => {
    const saga = await brokenSaga();
    await outage(saga, 300);
    const { resumes } = (await saga.seen()).state;
    expect(resumes).toBeGreaterThan(8);
    expect(resumes).toBeLessThan(15);
    expect(saga.machine.warnings).toContain('saga is stuck');
    saga.broken.now = false;
    await saga.clock.advance(60 * MINUTE_MS);
    await saga.machine.settle();
    expect((await saga.seen()).state.status).toBe('COMPLETED');
  });

  test('is tried at once when an operator asks for it by name, and only then', async () => {
    const saga = await brokenSaga();
    await outage(saga, 300);
    saga.broken.now = false;
    expect(await saga.machine.sweep({ sagaId: SAGA, asked: false })).toMatchObject({ stuck: [SAGA] });
    expect(await saga.machine.sweep()).toMatchObject({ stuck: [SAGA], resumed: [] });
    expect(await saga.machine.sweep({ sagaId: SAGA, asked: true })).toMatchObject({ resumed: [SAGA] });
    await saga.machine.settle();
    expect((await saga.seen()).state.status).toBe('COMPLETED');
  });

  test('is undone at once when an operator cancels it, also when it was cancelled before', async () => {
    const saga = await brokenSaga();
    const cancel = () => saga.machine.operate({ sagaId: SAGA, action: 'cancel', by: 'ada' });
    await outage(saga, 30);
    await cancel();
    await outage(saga, 30);
    saga.broken.now = false;
    await cancel();
    await saga.machine.settle();
    const { state, story } = await saga.sound();
    expect(state.status).toBe('COMPENSATED');
    expect(story.filter((one) => one === 'saga cancel_requested')).toHaveLength(1);
  });
});

describe('a cancel during a pause', () => {
  test('acts at once: the saga goes to a new execution, and the one that pauses is told so', async () => {
    const hourly = { maxAttempts: 3, backoffSeconds: 3600, backoffRate: 1, maxBackoffSeconds: 3600 };
    const saga = await scriptedSaga({
      tools: [scriptedTool('pay', 'compensatable'), scriptedTool('ship', 'compensatable', { retry: hourly })],
      answer: ({ step, operation }, clock) => {
        if (step === 'ship') clock.later(1000, cancel);
        return step === 'ship' && operation === 'execute' ? rejected(true) : committed();
      },
    });
    const begun = saga.clock.nowMs();
    let cancelledMs = 0;
    const cancel = async () => {
      await saga.machine.operate({ sagaId: SAGA, action: 'cancel', by: 'ada' });
      cancelledMs = saga.clock.nowMs() - begun;
    };
    await saga.run();
    const { state, entries } = await saga.sound();
    expect(cancelledMs).toBe(1000);
    expect(state).toMatchObject({ status: 'COMPENSATED', generation: 2, pauseUntilMs: null });
    expect(entries.filter((one) => one.direction === 'forward' && one.status === 'started')).toHaveLength(2);
  });
});

describe('a sweep', () => {
  const ended = (broken: string[], looked: string[] = []): SagaEngine => ({
    start: async () => 'started',
    look: async (sagaId) => {
      looked.push(sagaId);
      if (broken.includes(sagaId)) throw new WalkbackError('Throttled', 'too many', { retryable: true });
      return 'ended';
    },
    wake: async () => true,
  });
  const log = { info: () => undefined, warn: () => undefined };
  const started = async (ids: string[], approval?: { timeoutSeconds: number }) => {
    const { store } = memorySagaStore();
    const clock = virtualClock();
    await store.putTool(scriptedTool('pay', 'compensatable'));
    const step = { id: 'a', tool: 'pay', arguments: {}, ...(approval === undefined ? {} : { approval }) };
    const start = createStartSaga({ store, engine: ended([]), clock, evaluate: createEvaluator() });
    for (const sagaId of ids) await start({ sagaId, plan: { steps: [step] }, input: {}, requestedBy: 'me' });
    return { store, clock };
  };

  test('looks at all whose compensation failed each minute while they are few, and else at some', async () => {
    const { store, clock } = await started([]);
    const looked = async (ids: readonly string[]) => {
      const seen: string[] = [];
      const failed: SagaStore = {
        ...store,
        listByStatus: async (status) => ({
          items: (status === 'COMPENSATION_FAILED' ? ids : []).map((sagaId) => ({
            sagaId,
            statusSince: '2026-01-01T00:00:00.000Z',
            waitUntilMs: null,
          })),
        }),
        getHead: async (sagaId) => void seen.push(sagaId),
      };
      await createSweep({ store: failed, clock, log, engine: ended([]) })();
      return seen;
    };
    const few = Array.from({ length: 50 }, (_, at) => `few${at}`);
    expect((await looked(few)).toSorted()).toEqual(few.toSorted());
    const many = Array.from({ length: 1_000 }, (_, at) => `many${at}`);
    const all = new Set<string>();
    for (let minute = 0; minute < 15; minute += 1) {
      const seen = await looked(many);
      expect(seen.length).toBeLessThan(120);
      for (const one of seen) all.add(one);
      await clock.advance(MINUTE_MS);
    }
    expect(all.size).toBe(many.length);
  });

  test('goes on when one saga cannot be looked at, and says which', async () => {
    const { store, clock } = await started(['a', 'b', 'c']);
    const sweep = createSweep({ store, clock, log, engine: ended(['a']) });
    const report = await sweep();
    expect(report).toMatchObject({ looked: 3, failed: ['a'] });
    expect(report.resumed.toSorted()).toEqual(['b', 'c']);
    await expect(sweep({ sagaId: 'a', asked: false })).rejects.toMatchObject({ name: 'Throttled' });
  });

  test('looks at waits of people in turn, and at all of them when their time is about up', async () => {
    const ids = Array.from({ length: 30 }, (_, n) => `w${n}`);
    const approval = { timeoutSeconds: 3600 };
    const saga = await scriptedSaga({
      tools: [scriptedTool('pay', 'compensatable')],
      steps: [{ id: 'a', tool: 'pay', arguments: {}, approval }],
      answer: () => committed(),
    });
    const plan = { steps: [{ id: 'a', tool: 'pay', arguments: {}, approval }] };
    for (const sagaId of ids) {
      await saga.machine.start({ sagaId, plan, input: {}, requestedBy: 'me' });
      expect(await saga.machine.begin(sagaId, 1)).toMatchObject({ action: 'AWAIT' });
    }
    const looked: string[] = [];
    const engine: SagaEngine = {
      ...ended([]),
      look: async (sagaId) => {
        looked.push(sagaId);
        return 'running';
      },
    };
    const sweep = createSweep({ store: saga.store, clock: saga.clock, log, engine });
    await sweep();
    expect(looked.length).toBeLessThan(ids.length / 2);
    for (let minute = 1; minute < 15; minute += 1) {
      await saga.clock.advance(MINUTE_MS);
      await sweep();
    }
    expect(looked.toSorted()).toEqual(ids.toSorted());
    await saga.clock.advance(46 * MINUTE_MS);
    looked.length = 0;
    await sweep();
    expect(looked).toHaveLength(ids.length);
  });
});
