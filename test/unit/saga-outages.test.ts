/** Providers that are away for a while: what a saga does meanwhile, in simulated time (S2, S5, S7). */
import { describe, expect, test } from 'vitest';
import type { Invoked } from '../../core/saga/ports.ts';
import {
  BEFORE,
  DEFAULTS,
  HOUR_MS,
  MINUTE_MS,
  OUTAGES,
  SECOND_MS,
  status,
  undoing,
  unwinding,
} from '../support/outage-saga.ts';
import { sampled } from '../support/sampling.ts';
import { committed, lost, rejected, SAGA, scriptedSaga, scriptedTool } from '../support/scripted-saga.ts';

const LENGTHS = { 'twenty seconds': 20 * SECOND_MS, 'ten minutes': 10 * MINUTE_MS, 'a day': 24 * HOUR_MS };
type Length = keyof typeof LENGTHS;
const rowsOf = (length: Length) => Object.keys(OUTAGES).map((outage) => ({ outage, length }));
/** A day is some 150 attempts, and costs as much. */
const rows = [
  ...rowsOf('twenty seconds'),
  ...rowsOf('ten minutes'),
  ...sampled(rowsOf('a day'), { every: 4, minimum: 3 }),
];

describe('an outage while a saga is undone', () => {
  test('is tried in every way and length', () => {
    expect(rows.length).toBeGreaterThanOrEqual(25);
  });

  test.each(rows)('$outage for $length', async ({ outage, length }: { outage: string; length: Length }) => {
    const failure = OUTAGES[outage] ?? expect.unreachable(`there is no outage ${outage}`);
    const saga = await unwinding(failure, LENGTHS[length]);
    await saga.machine.settle();
    const { state, story, observation } = await saga.sound();
    const order = saga.undone.map(({ step }) => step);
    const told = story.filter((line) => line === 'undo delayed').length;
    const numbers = saga.attempts().map(({ attempt }) => attempt);
    expect(numbers, 'every attempt has a number of its own').toEqual(numbers.map((_, at) => at + 1));
    switch (length) {
      case 'twenty seconds':
        expect(state.status).toBe('COMPENSATED');
        // Nobody was called, and the order is the reverse order of start.
        expect(order).toEqual(['c', 'b', 'other', 'a']);
        expect(told).toBe(0);
        expect(saga.attempts().length).toBeLessThan(10);
        break;
      case 'ten minutes': {
        expect(state.status).toBe('COMPENSATED');
        expect(told).toBeGreaterThan(0);
        // What hangs on nothing goes on meanwhile; what changed the same resource earlier waits for it.
        expect(order).toEqual(['c', 'other', 'b', 'a']);
        const endedMs = saga.undone.find(({ step }) => step === 'b')?.atMs ?? Infinity;
        expect(endedMs - saga.sinceMs()).toBeLessThan(16 * MINUTE_MS);
        expect(saga.attempts().length).toBeLessThan(25);
        break;
      }
      case 'a day':
        expect(state.status).toBe('COMPENSATION_FAILED');
        expect(order).toEqual(['c', 'other']);
        expect(observation.notCompensated.map(({ step }) => step).sort()).toEqual(['a', 'b']);
        expect(saga.clock.nowMs() - saga.sinceMs()).toBeGreaterThan(12 * HOUR_MS);
        // Cheap: each attempt is some transitions, and there are no more than one every few minutes.
        expect(saga.attempts().length).toBeLessThan(330);
        expect(saga.machine.counts.transitions).toBeLessThan(2500);
        expect(saga.machine.alerts).toHaveLength(1);
        await saga.clock.advance(12 * HOUR_MS);
        await saga.machine.operate({ sagaId: SAGA, action: 'retry', by: 'ada' });
        await saga.machine.settle();
        expect((await saga.seen()).state.status).toBe('COMPENSATED');
        break;
    }
  });

  test('ends at once when the tool itself says that it will never work', async () => {
    for (const failure of [rejected(), status(400), status(410)]) {
      const saga = await unwinding(failure, 24 * HOUR_MS);
      await saga.machine.settle();
      expect((await saga.seen()).state.status).toBe('COMPENSATION_FAILED');
      expect(saga.attempts()).toHaveLength(1);
    }
  });

  test('leaves a saga that was pinned with attempts only at its policy', async () => {
    const saga = await unwinding(rejected(true), 20 * SECOND_MS, BEFORE);
    await saga.machine.settle();
    const { state, story } = await saga.seen();
    expect(state.status).toBe('COMPENSATION_FAILED');
    expect(saga.attempts()).toHaveLength(3);
    expect(story).not.toContain('undo delayed');
    const [first, , third] = saga.attempts();
    expect((third?.deadlineMs ?? 0) - (first?.deadlineMs ?? 0)).toBe(3 * SECOND_MS);
  });

  test('of Lambda itself uses up no attempt of such a saga, for a quarter of an hour', async () => {
    const throttled = OUTAGES['the function is throttled'] ?? lost;
    const short = await unwinding(throttled, 10 * MINUTE_MS, BEFORE);
    await short.machine.settle();
    expect((await short.seen()).state.status).toBe('COMPENSATED');
    const long = await unwinding(throttled, 24 * HOUR_MS, BEFORE);
    await long.machine.settle();
    expect((await long.seen()).state.status).toBe('COMPENSATION_FAILED');
    expect(long.clock.nowMs() - long.sinceMs()).toBeGreaterThan(14 * MINUTE_MS);
    expect(long.clock.nowMs() - long.sinceMs()).toBeLessThan(20 * MINUTE_MS);
  });

  test('is waited out for the pause that a refusal asks for, up to an hour', async () => {
    for (const [seconds, pauseMs] of [
      [90, 90 * SECOND_MS],
      [1e9, HOUR_MS],
    ] as const) {
      const busy: Invoked = {
        Payload: {
          outcome: 'rejected',
          retryable: true,
          retryAfterSeconds: seconds,
          error: { name: 'Busy', message: 'later' },
        },
      };
      const saga = await unwinding(busy, 1);
      await saga.machine.settle();
      const [first, second] = saga.attempts();
      expect((second?.deadlineMs ?? 0) - (first?.deadlineMs ?? 0)).toBe(pauseMs);
      expect((await saga.seen()).state.status).toBe('COMPENSATED');
    }
  });

  test('pauses alike whenever the same attempt is decided again, and sagas that failed together spread', async () => {
    const pauses = async () => {
      const saga = await unwinding(rejected(true), 10 * MINUTE_MS);
      await saga.machine.settle();
      return saga.attempts().map(({ deadlineMs }) => deadlineMs - saga.sinceMs());
    };
    expect(await pauses()).toEqual(await pauses());
    const replayed = await unwinding(rejected(true), 10 * MINUTE_MS, DEFAULTS, { replay: true });
    await replayed.machine.settle();
    expect(replayed.attempts().map(({ deadlineMs }) => deadlineMs - replayed.sinceMs())).toEqual(
      await pauses(),
    );
  });
});

describe('an outage on the way forward', () => {
  const forward = async (failure: Invoked, lastsMs: number) => {
    const saga = await scriptedSaga({
      tools: [undoing('a'), undoing('b')],
      answer: ({ operation, step }, clock) =>
        operation === 'execute' && step === 'b' && clock.nowMs() - began < lastsMs ? failure : committed(),
    });
    const began = saga.clock.nowMs();
    await saga.run();
    return { ...(await saga.seen()), requests: saga.requests };
  };

  test.each([
    'the function is throttled',
    'nobody listens at the endpoint',
    'the endpoint answers 429 and Retry-After',
  ])('uses up no attempt when the call never reached the tool: %s', async (outage) => {
    const { state, isSound } = await forward(OUTAGES[outage] ?? lost, 5 * MINUTE_MS);
    expect(state.status).toBe('COMPLETED');
    expect(isSound).toBe(true);
    expect((await forward(OUTAGES[outage] ?? lost, 24 * HOUR_MS)).state.status).toBe('COMPENSATED');
  });

  test('spreads sagas that are crowded out together, each pausing alike whenever it is decided again', async () => {
    const pauses = async (sagaId: string, replay = false) => {
      const saga = await scriptedSaga({
        tools: [undoing('a')],
        answer: (_, clock) =>
          clock.nowMs() < endsMs ? (OUTAGES['the function is throttled'] ?? lost) : committed(),
        replay,
      });
      const endsMs = saga.clock.nowMs() + 5 * MINUTE_MS;
      const steps = [{ id: 'a', tool: 'a', arguments: {} }];
      await saga.machine.start({ sagaId, plan: { steps }, input: {}, requestedBy: 'me' });
      await saga.machine.settle();
      const entries = await saga.store.listEntries(sagaId);
      return entries.flatMap((entry) =>
        entry.direction === 'saga' && entry.status === 'paused' ? [entry.untilMs - Date.parse(entry.at)] : [],
      );
    };
    const [one, other] = [await pauses('one'), await pauses('other')];
    expect(await pauses('one', true)).toEqual(one);
    expect(one.length).toBeGreaterThan(5);
    const together = Math.min(one.length, other.length);
    expect(one.slice(0, together).filter((pause, n) => pause === other[n])).toEqual([]);
    for (const [n, pause] of one.entries()) {
      const longest = Math.min(MINUTE_MS, 2 ** n * SECOND_MS);
      expect(pause).toBeGreaterThanOrEqual(longest / 2);
      expect(pause).toBeLessThanOrEqual(longest);
    }
  });

  test('a function that is not there is a clean refusal: nothing of its step is left to undo', async () => {
    const { state, requests, observation } = await forward(
      OUTAGES['the function is not there'] ?? lost,
      24 * HOUR_MS,
    );
    expect(state.status).toBe('COMPENSATED');
    expect(observation.failed).toMatchObject({
      step: 'b',
      outcome: 'rejected',
      error: { name: 'Lambda.ResourceNotFoundException' },
    });
    expect(requests.filter(({ step, operation }) => step === 'b' && operation === 'compensate')).toEqual([]);
  });

  test('an error of the same name that the tool threw leaves its outcome open', async () => {
    const thrown = { Error: 'ResourceNotFoundException', Cause: 'Requested resource not found: Table' };
    const { requests } = await forward(thrown, 24 * HOUR_MS);
    expect(
      requests.some(({ step, operation }) => step === 'b' && operation === 'compensate'),
      'it may have acted, so it is undone',
    ).toBe(true);
  });

  test('a probe that never reached its tool does not count as one', async () => {
    let probes = 0;
    const saga = await scriptedSaga({
      tools: [scriptedTool('mail', 'irreversible', { probe: true, idempotencyWindowSeconds: 0 })],
      answer: ({ operation }) => {
        if (operation === 'execute') return lost;
        probes += 1;
        return probes < 6 ? (OUTAGES['the function is throttled'] ?? lost) : committed();
      },
    });
    await saga.run();
    expect((await saga.seen()).state.status).toBe('COMPLETED');
    expect(probes).toBe(6);
  });
});
