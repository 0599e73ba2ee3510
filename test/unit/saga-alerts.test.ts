/** The alert of a failed saga (S7): whether it was delivered is in the ledger, and the sweeper has it sent again. */
import { describe, expect, test } from 'vitest';
import type { SagaStore } from '../../core/saga/ports.ts';
import { Crash } from '../../kit/testing/saga-machine.ts';
import { alertForPeople } from '../../present/saga-next.ts';
import { committed, rejected, SAGA, scriptedSaga, scriptedTool } from '../support/scripted-saga.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const REFUSALS = {
  deleted: { Error: 'SNS.NotFoundException', Cause: 'Topic does not exist' },
  denied: { Error: 'SNS.AuthorizationErrorException', Cause: 'not authorized to perform: SNS:Publish' },
};

/** A saga that cannot be undone, with a topic that a test breaks. */
const failedSaga = async (
  more: { replay?: boolean; storing?: (store: SagaStore) => SagaStore; topic?: keyof typeof REFUSALS } = {},
) => {
  const topic: { refuses: keyof typeof REFUSALS | undefined; asked: number } = {
    refuses: more.topic,
    asked: 0,
  };
  const saga = await scriptedSaga({
    tools: [scriptedTool('pay', 'compensatable'), scriptedTool('ship', 'compensatable')],
    answer: ({ operation, step }) => (operation === 'execute' && step === 'pay' ? committed() : rejected()),
    onAlert: () => {
      topic.asked += 1;
      return topic.refuses && REFUSALS[topic.refuses];
    },
    ...(more.replay === undefined ? {} : { replay: more.replay }),
    ...(more.storing === undefined ? {} : { storing: more.storing }),
  });
  await saga.run();
  /** Sweeps by the clock, as often as the clock does. */
  const sweepFor = async (timeMs: number) => {
    const untilMs = saga.clock.nowMs() + timeMs;
    while (saga.clock.nowMs() < untilMs) {
      await saga.clock.advance(MINUTE_MS);
      await saga.machine.sweep();
      await saga.machine.settle();
    }
  };
  return { ...saga, topic, sweepFor };
};

const alertsIn = (story: readonly string[]): string[] => story.filter((line) => line.startsWith('alert '));

describe('an alert that the topic takes', () => {
  test.each([{ replay: false }, { replay: true }])('is recorded, and sent once: %o', async ({ replay }) => {
    const saga = await failedSaga({ replay });
    await saga.sweepFor(3 * HOUR_MS);
    const { state, story, observation } = await saga.sound();
    expect(state).toMatchObject({ status: 'COMPENSATION_FAILED', alert: { status: 'delivered' } });
    expect(alertsIn(story)).toEqual(['alert delivered']);
    expect(observation.alert).toMatchObject({ status: 'delivered', at: expect.any(String) });
    expect(alertForPeople(observation)).toMatch(/took the alert \(20/);
    expect(saga.topic.asked).toBe(1);
  });

  test('is due again when the saga fails again after a retry', async () => {
    const saga = await failedSaga();
    await saga.machine.operate({ sagaId: SAGA, action: 'retry', by: 'ada' });
    expect((await saga.seen()).observation.alert).toBeUndefined();
    await saga.machine.settle();
    const { story, observation } = await saga.seen();
    expect(alertsIn(story)).toEqual(['alert delivered', 'alert delivered']);
    expect(observation.alert).toMatchObject({ status: 'delivered' });
    expect(saga.machine.alerts).toHaveLength(2);
  });
});

describe.each(['deleted', 'denied'] as const)('an alert whose topic is %s', (topic) => {
  test('is recorded with the reason, and delivered once when the topic is back', async () => {
    const saga = await failedSaga({ topic });
    const first = await saga.seen();
    const { Error: name, Cause: message } = REFUSALS[topic];
    expect(first.observation).toMatchObject({
      status: 'COMPENSATION_FAILED',
      alert: { status: 'refused', refusals: 1, error: { name, message } },
    });
    expect(alertForPeople(first.observation)).toMatch(`Nobody was alerted: the alert topic refused`);
    expect(alertForPeople(first.observation)).toContain(`${name}: ${message}`);
    expect(await saga.machine.sweep()).toMatchObject({ unalerted: [SAGA], resumed: [] });

    await saga.sweepFor(3 * HOUR_MS);
    const during = await saga.seen();
    expect(during.isSound).toBe(true);
    // After 1, 2, 4, 8, 16, 32 and 60 minutes.
    expect(alertsIn(during.story).length).toBeGreaterThan(6);
    expect(alertsIn(during.story).length).toBeLessThan(10);
    expect(during.head.statusSince, 'it failed once').toBe(first.head.statusSince);
    expect(saga.machine.alerts).toEqual([]);

    saga.topic.refuses = undefined;
    await saga.sweepFor(3 * HOUR_MS);
    const after = await saga.seen();
    expect(after.isSound).toBe(true);
    expect(after.observation.alert).toMatchObject({ status: 'delivered' });
    expect(saga.machine.alerts).toHaveLength(1);
    expect(saga.machine.alerts[0]?.message).toContain('What still stands:');
    expect(await saga.machine.sweep()).toMatchObject({ unalerted: [], resumed: [] });
  });

  test('is given up after a week, stays known as undelivered, and goes out when an operator asks', async () => {
    const saga = await failedSaga({ topic });
    await saga.sweepFor(8 * DAY_MS);
    const { story } = await saga.seen();
    expect(alertsIn(story).length).toBeLessThan(7 * 24 + 10);
    const { asked } = saga.topic;
    await saga.sweepFor(DAY_MS);
    expect(saga.topic.asked).toBe(asked);
    expect(await saga.machine.sweep()).toMatchObject({ unalerted: [SAGA], resumed: [] });
    saga.topic.refuses = undefined;
    expect(await saga.machine.sweep({ sagaId: SAGA, asked: true })).toMatchObject({ resumed: [SAGA] });
    await saga.machine.settle();
    expect(saga.machine.alerts).toHaveLength(1);
  });

  test('is not sent again once an operator has worked on the saga', async () => {
    const saga = await failedSaga({ topic });
    await saga.machine.operate({
      sagaId: SAGA,
      action: 'resolve',
      by: 'ada',
      stepId: 'pay',
      evidence: 'by hand',
    });
    await saga.machine.settle();
    saga.topic.refuses = undefined;
    await saga.sweepFor(3 * HOUR_MS);
    const { observation } = await saga.seen();
    expect(observation).toMatchObject({ status: 'COMPENSATED' });
    expect(observation.alert).toBeUndefined();
    expect(saga.machine.alerts).toEqual([]);
  });
});

test('two sweeps at once send an alert once', async () => {
  const saga = await failedSaga({ topic: 'deleted' });
  saga.topic.refuses = undefined;
  await saga.clock.advance(2 * MINUTE_MS);
  const reports = await Promise.all([saga.machine.sweep(), saga.machine.sweep(), saga.machine.sweep()]);
  expect(reports.flatMap(({ resumed }) => resumed)).toEqual([SAGA]);
  await saga.machine.settle();
  expect(saga.machine.alerts).toHaveLength(1);
});

test('an execution that died before it sent the alert: the sweeper has it sent at once', async () => {
  let dies = 1;
  const saga = await failedSaga({
    storing: (store) => ({
      ...store,
      // The end is recorded, and the execution knows nothing of it.
      append: async (...given) => {
        const outcome = await store.append(...given);
        if (given[0].state.status === 'COMPENSATION_FAILED' && dies-- > 0) throw new Crash('it died');
        return outcome;
      },
    }),
  });
  const { story, observation } = await saga.seen();
  expect(story).toContain('saga compensation_failed');
  expect(observation.alert).toMatchObject({ status: 'delivered' });
  expect(saga.machine.alerts).toHaveLength(1);
});
