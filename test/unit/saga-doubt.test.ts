import { describe, expect, test } from 'vitest';
import type { SagaStore } from '../../core/saga/ports.ts';
import { move } from '../../core/saga/run/move.ts';
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

const absent = { Payload: { outcome: 'absent' } };

describe('an expired key (S2)', () => {
  const hourly = { maxAttempts: 5, backoffSeconds: 3600, backoffRate: 1, maxBackoffSeconds: 3600 };
  const ticket = (probe: boolean) =>
    scriptedTool('ticket', 'compensatable', { idempotencyWindowSeconds: 7200, retry: hourly, probe });

  /** The first call acts and its answer is lost; the provider throttles the next, and forgets the key after two hours. */
  const throttled = async (probe: boolean) => {
    const acted: number[] = [];
    let calls = 0;
    const saga = await scriptedSaga({
      tools: [ticket(probe)],
      answer: ({ operation }, clock) => {
        if (operation === 'probe') return probes.shift() ?? committed();
        if (operation === 'compensate') return committed();
        calls += 1;
        const [first] = acted;
        if (first === undefined || clock.nowMs() - first > 7200_000) acted.push(clock.nowMs());
        if (calls === 1) return lost;
        return calls < 3 ? rejected(true) : committed();
      },
    });
    const probes = [rejected(), rejected()];
    await saga.run();
    return { acted, ...(await saga.seen()) };
  };

  test('is not used again while an earlier attempt is in doubt, however cleanly the last one was refused', async () => {
    const { acted, state, entries } = await throttled(false);
    expect(acted).toHaveLength(1);
    expect(state.status).toBe('COMPENSATED');
    expect(entries.filter((one) => one.direction === 'forward' && one.status === 'started')).toHaveLength(2);
  });

  test('is settled by a probe when there is one', async () => {
    const { acted, state } = await throttled(true);
    expect(acted).toHaveLength(1);
    expect(state.status).toBe('COMPLETED');
  });
});

describe('a lost call to a provider that knows no keys', () => {
  const NO_KEYS = { idempotencyWindowSeconds: 0, probe: true };
  const unsure = {
    Payload: { outcome: 'unknown', answered: true, error: { name: 'Http500', message: 'no' } },
  };
  /** The first `times` calls are lost, and the probe answers `told`. */
  const playing = async (
    told: typeof absent,
    {
      times = 1,
      answer = lost,
      more = {},
    }: { times?: number; answer?: typeof lost | typeof unsure; more?: object } = {},
  ) => {
    let calls = 0;
    const saga = await scriptedSaga({
      tools: [scriptedTool('pay', 'compensatable', { ...NO_KEYS, ...more })],
      answer: ({ operation }) => {
        if (operation === 'probe') return told;
        if (operation === 'compensate') return committed();
        calls += 1;
        return calls > times ? committed() : answer;
      },
    });
    await saga.run();
    return { calls, ...(await saga.seen()) };
  };

  test('is made again when its probe says that it did not happen', async () => {
    for (const kind of ['compensatable', 'irreversible'] as const) {
      const more = { effect: kind, ...(kind === 'irreversible' ? { compensation: undefined } : {}) };
      const { calls, state, story, isSound } = await playing(absent, { more });
      expect(state.status).toBe('COMPLETED');
      expect(calls).toBe(2);
      expect(story.slice(1).filter((one) => one !== 'saga paused')).toEqual([
        'forward started',
        'forward unknown',
        'probe started',
        'probe absent',
        'forward started',
        'forward committed',
        'saga completed',
      ]);
      expect(isSound).toBe(true);
    }
  });

  test('is made within its attempts, and the reason says what the probe said', async () => {
    const { calls, state, observation } = await playing(absent, { times: Number.POSITIVE_INFINITY });
    expect(calls).toBe(3);
    expect(state.status).toBe('COMPENSATED');
    expect(observation.failed?.error.message).toMatch(
      /Asked afterwards, the provider said that it did not happen\.$/,
    );
  });

  test('is not made again when the probe does not know, or where the provider answers its error again', async () => {
    const unknown = await playing({ Payload: { outcome: 'unknown' } });
    expect(unknown).toMatchObject({ calls: 1, state: { status: 'COMPENSATED' } });
    expect(unknown.observation.failed?.error.message).toMatch(/did not say whether it happened\.$/);
    const replayed = await playing(absent, { answer: unsure, more: { replaysErrors: true } });
    expect(replayed).toMatchObject({ calls: 1, state: { status: 'COMPENSATED' } });
  });
});

describe('a lost answer of Advance', () => {
  test('to the first call of an execution leaves no doubt about a call that was never made', async () => {
    const saga = await scriptedSaga({
      tools: [scriptedTool('mail', 'irreversible', { idempotencyWindowSeconds: 0 })],
      answer: () => committed(),
      replay: true,
    });
    await saga.run();
    expect((await saga.seen()).state.status).toBe('COMPLETED');
    expect(saga.requests).toHaveLength(1);
  });

  test('to the first call of a later execution leaves what that one started to it, and what an older one started in doubt', async () => {
    const saga = await scriptedSaga({
      tools: [scriptedTool('pay', 'compensatable')],
      answer: () => lost,
    });
    const { begin } = saga.machine;
    await saga.begin();
    expect(await begin(SAGA, 1)).toMatchObject({ action: 'INVOKE', operation: { attempt: 1 } });
    await move(saga, SAGA, { type: 'resume', reason: 'its execution ended' }, 'sweeper');
    expect(await begin(SAGA, 2)).toMatchObject({ action: 'PAUSE' });
    await saga.clock.advance(16_000);
    const again = await begin(SAGA, 2);
    expect(again).toMatchObject({ action: 'INVOKE', operation: { attempt: 2 } });
    expect(await begin(SAGA, 2)).toEqual(again);
  });
});

describe('a call whose caller was lost', () => {
  const ONCE = { maxAttempts: 1, backoffSeconds: 1, backoffRate: 1, maxBackoffSeconds: 1 };
  const pay = scriptedTool('pay', 'compensatable', {
    retry: ONCE,
    probe: true,
    compensation: { name: 'undo_pay', timeoutSeconds: 10, retry: ONCE },
  });
  const refused = scriptedTool('refused', 'compensatable');

  /** The first call of this kind is started, and Advance answers only when its deadline has passed. */
  const late = (direction: string, byMs = 16_000) => {
    let isLate = false;
    return {
      replay: true,
      storing: (store: SagaStore): SagaStore => ({
        ...store,
        append: async (head, version, entries, beside) => {
          const written = await store.append(head, version, entries, beside);
          if (
            !isLate &&
            entries.some((entry) => entry.direction === direction && entry.status === 'started')
          ) {
            isLate = true;
            await passes(byMs);
          }
          return written;
        },
      }),
    };
  };
  let passes: (ms: number) => Promise<unknown>;
  const run = async (options: Partial<ScriptedSagaOptions>) => {
    const saga = await scriptedSaga({
      tools: [pay, refused],
      answer: ({ tool, operation }) =>
        tool === 'refused' ? rejected() : operation === 'probe' ? absent : committed(),
      ...options,
    });
    passes = saga.clock.advance;
    await saga.run();
    const { state, isSound, entries } = await saga.seen();
    const calls = saga.requests.filter(({ tool }) => tool === 'pay').map(({ operation }) => operation);
    const unheard = entries.filter((entry) => 'callerLost' in entry).map(({ direction }) => direction);
    return { status: state.status, isSound, calls, unheard };
  };

  test('uses up no attempt of a compensator', async () => {
    expect(await run(late('undo'))).toEqual({
      status: 'COMPENSATED',
      isSound: true,
      calls: ['execute', 'compensate'],
      unheard: ['undo'],
    });
  });

  test('uses up none of a step, whose provider is asked first', async () => {
    expect(await run({ ...late('forward'), tools: [pay] })).toEqual({
      status: 'COMPLETED',
      isSound: true,
      calls: ['probe', 'execute'],
      unheard: ['forward'],
    });
  });

  test.each([
    ['execute', 'COMPLETED'],
    ['probe', 'COMPLETED'],
    ['compensate', 'COMPENSATED'],
  ])('uses up none when the machine ends in the middle of %s, three times', async (operation, status) => {
    let crashes = 3;
    const seen = await run({
      tools: operation === 'compensate' ? [pay, refused] : [pay],
      answer: (request) => {
        if (request.operation === operation && crashes-- > 0) throw new Crash();
        if (request.operation === 'execute' && operation === 'probe') return lost;
        if (request.operation === 'probe' && operation !== 'probe') return absent;
        return request.tool === 'refused' ? rejected() : committed();
      },
    });
    expect(seen).toMatchObject({ status, isSound: true });
    expect(seen.unheard).toHaveLength(3);
  });

  test.each([
    ['forward', 'execute', 'COMPLETED'],
    ['probe', 'probe', 'COMPLETED'],
    ['undo', 'compensate', 'COMPENSATED'],
  ])(
    'uses up none when it came back in the middle, and the rest of the time was too short: %s',
    async (direction, operation, status) => {
      // Each call works for five seconds; of the first one, Advance left four.
      const seen = await run({
        ...late(direction, 6_000),
        tools: direction === 'undo' ? [pay, refused] : [pay],
        answer: async (request, clock) => {
          if (request.tool === 'refused') return rejected();
          if (direction === 'probe' && request.operation === 'execute') return lost;
          if (request.operation !== operation) return request.operation === 'probe' ? absent : committed();
          const leftMs = request.deadlineMs - clock.nowMs();
          await clock.advance(Math.min(leftMs, 5_000));
          return leftMs < 5_000 ? lost : committed();
        },
      });
      expect(seen).toMatchObject({ status, isSound: true, unheard: [direction] });
    },
  );

  test('uses up one when it had all of its time', async () => {
    const seen = await run({
      answer: async (request, clock) => {
        if (request.tool === 'refused') return rejected();
        if (request.operation !== 'compensate') return committed();
        await clock.advance(10_000);
        return lost;
      },
    });
    expect(seen).toMatchObject({ status: 'COMPENSATION_FAILED', isSound: true, unheard: [] });
  });

  test('uses them up when none but such were made for a quarter of an hour', async () => {
    const seen = await run({
      answer: (request) => {
        if (request.operation === 'compensate') throw new Crash();
        return request.tool === 'refused' ? rejected() : committed();
      },
    });
    expect(seen).toMatchObject({ status: 'COMPENSATION_FAILED', isSound: true });
  });
});

describe('a probe', () => {
  test('whose answer breaks the contract of the tool unwinds, as the call itself would', async () => {
    const error = { name: 'InvalidResult', message: 'no id' };
    const saga = await scriptedSaga({
      tools: [scriptedTool('charge', 'compensatable', { probe: true })],
      answer: ({ operation }) => {
        if (operation === 'execute') return lost;
        return operation === 'probe'
          ? { Payload: { outcome: 'committed', result: null, error } }
          : committed();
      },
    });
    await saga.run();
    const { state, observation, story } = await saga.sound();
    expect(state.status).toBe('COMPENSATED');
    expect(observation.failed).toMatchObject({ step: 'charge', error, outcome: 'rejected' });
    expect(story).toContain('probe committed');
  });

  test.each([
    ['an irreversible call clears it: what is refused after that did not happen', 'irreversible'],
    ['a compensatable call does not: it is undone all the same, for the tombstone', 'compensatable'],
  ] as const)('that denies %s', async (_, effect) => {
    let calls = 0;
    const saga = await scriptedSaga({
      tools: [scriptedTool('charge', effect, { probe: true })],
      answer: ({ operation }) => {
        if (operation === 'probe') return absent;
        if (operation === 'compensate') return committed();
        calls += 1;
        return calls === 1 ? lost : rejected();
      },
    });
    await saga.run();
    const { state, story, observation } = await saga.sound();
    expect(state.status).toBe('COMPENSATED');
    expect(observation.notCompensated).toEqual([]);
    expect(story.includes('undo committed')).toBe(effect === 'compensatable');
  });
});

describe('a read whose answer says nothing', () => {
  const retry = { maxAttempts: 3, backoffSeconds: 1, backoffRate: 2, maxBackoffSeconds: 60 };
  const story = async (answers: readonly ReturnType<typeof committed>[]) => {
    const left = [...answers];
    const saga = await scriptedSaga({
      tools: [scriptedTool('look', 'read', { timeoutSeconds: 30, retry })],
      answer: () => left.shift() ?? lost,
    });
    const beganMs = saga.clock.nowMs();
    await saga.run();
    const { state } = await saga.seen();
    return { saga, state, seconds: (saga.clock.nowMs() - beganMs) / 1000 };
  };

  test('is made again after the pause of its policy: it changes nothing, so nothing of it can come late', async () => {
    const { saga, state, seconds } = await story([lost, lost, committed()]);
    expect(state.status).toBe('COMPLETED');
    expect(saga.requests.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(seconds).toBeGreaterThanOrEqual(3);
    expect(seconds).toBeLessThan(10);
  });

  test('is given up after its attempts, and without a pause after the last', async () => {
    const { saga, state, seconds } = await story([]);
    expect(state.status).toBe('COMPENSATED');
    expect(saga.requests).toHaveLength(3);
    expect(seconds).toBeLessThan(10);
  });
});
