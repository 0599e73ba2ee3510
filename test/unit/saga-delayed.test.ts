/** What people and the sweeper do while a compensator is delayed, in simulated time (S7, S11). */
import { describe, expect, test } from 'vitest';
import type { Invoked } from '../../core/saga/ports.ts';
import { createSweep } from '../../core/saga/run/sweep.ts';
import { errorOf } from '../support/error-of.ts';
import { DEFAULTS, HOUR_MS, MINUTE_MS, SECOND_MS, undoing, unwinding } from '../support/outage-saga.ts';
import { committed, rejected, SAGA, scriptedSaga, scriptedTool } from '../support/scripted-saga.ts';

describe('a person, while a compensator is delayed', () => {
  /** As it stands while the saga pauses for the compensator of `b`, an hour into the outage. */
  const delayed = async (lastsMs = 24 * HOUR_MS) => {
    const saga = await unwinding(rejected(true), lastsMs);
    const { promise, resolve } = Promise.withResolvers<void>();
    const during: { act: () => Promise<unknown> } = { act: async () => undefined };
    saga.clock.later(HOUR_MS, async () => {
      await during.act();
      resolve();
    });
    return { saga, during, acted: promise };
  };

  test('retries: it is tried at once, by an execution of its own', async () => {
    const { saga, during } = await delayed();
    during.act = async () => {
      const before = (await saga.seen()).state;
      expect(before.status).toBe('PAUSED');
      await saga.machine.operate({ sagaId: SAGA, action: 'retry', by: 'ada' });
      const { state } = await saga.seen();
      expect(state.generation).toBe(before.generation + 1);
      expect(await saga.machine.begin(SAGA, state.generation)).toMatchObject({
        action: 'INVOKE',
        operation: { direction: 'undo' },
      });
      const { length } = (await saga.seen()).entries;
      await saga.machine.operate({ sagaId: SAGA, action: 'retry', by: 'ada' });
      expect((await saga.seen()).entries, 'twice changes nothing: it is on its way').toHaveLength(length);
      await expect(
        saga.machine.operate({ sagaId: SAGA, action: 'retry', stepId: 'a', by: 'ada' }),
        'that of another step does not pass for it',
      ).rejects.toMatchObject({ name: 'OperationRefused' });
      await expect(
        saga.machine.operate({ sagaId: SAGA, action: 'skip', stepId: 'b', by: 'ada', evidence: 'no' }),
      ).rejects.toMatchObject(errorOf('OperationRefused', 'calling a compensator'));
    };
    await saga.machine.settle();
    expect((await saga.seen()).isSound).toBe(true);
    expect((await saga.seen()).state.status).toBe('COMPENSATION_FAILED');
  });

  test.each([{}, { stepId: 'b' }])('retries what is due anyway: it is recorded once, %o', async (more) => {
    const { saga, during } = await delayed();
    const retry = async (): Promise<number> => {
      await saga.machine.operate({ sagaId: SAGA, action: 'retry', by: 'ada', ...more });
      const { entries } = await saga.seen();
      return entries.filter(({ status, actor }) => status === 'retried' && actor === 'ada').length;
    };
    const counts: number[] = [];
    during.act = async () => {
      const { state } = await saga.seen();
      const untilMs = state.pauseUntilMs ?? expect.unreachable('it pauses');
      saga.clock.later(untilMs - saga.clock.nowMs(), async () => {
        counts.push(await retry(), await retry());
      });
    };
    await saga.machine.settle();
    expect(counts).toEqual([1, 1]);
    expect((await saga.seen()).isSound).toBe(true);
  });

  test.each(['resolve', 'skip'] as const)('%ss: the rest goes on without it', async (action) => {
    const { saga, during } = await delayed();
    during.act = () =>
      saga.machine.operate({ sagaId: SAGA, action, stepId: 'b', by: 'ada', evidence: 'done at the desk' });
    await saga.machine.settle();
    const { state, observation } = await saga.sound();
    expect(state.status).toBe('COMPENSATED');
    expect(saga.undone.map(({ step }) => step)).toEqual(['c', 'other', 'a']);
    expect(saga.clock.nowMs() - saga.sinceMs()).toBeLessThan(2 * HOUR_MS);
    if (action === 'skip') expect(observation.notCompensated).toHaveLength(1);
  });

  test('retries only what failed with one error', async () => {
    const saga = await unwinding(rejected(true), 24 * HOUR_MS);
    await saga.machine.settle();
    await saga.clock.advance(24 * HOUR_MS);
    const retry = (error: string) =>
      saga.machine.operate({ sagaId: SAGA, action: 'retry', by: 'ada', error });
    await expect(retry('Http404')).rejects.toMatchObject({ name: 'OperationRefused' });
    await retry('Refused');
    await saga.machine.settle();
    expect((await saga.seen()).state.status).toBe('COMPENSATED');
  });
});

describe('a saga that dies while a compensator is delayed', () => {
  test('costs the sweeper nothing each minute, and goes on when its pause is over', async () => {
    const busy: Invoked = {
      Payload: {
        outcome: 'rejected',
        retryable: true,
        retryAfterSeconds: 3600,
        error: { name: 'Busy', message: 'later' },
      },
    };
    const saga = await unwinding(busy, 1);
    const looks: number[] = [];
    const resumed: string[] = [];
    saga.clock.later(2 * MINUTE_MS, async () => {
      const endMs = (await saga.seen()).state.pauseUntilMs ?? expect.unreachable('it pauses');
      const engineThat = (seen: 'running' | 'ended') => ({
        ...saga.machine.engine,
        look: async () => {
          looks.push(endMs);
          return seen;
        },
      });
      const log = { info: () => undefined, warn: () => undefined };
      const sweepAt = (atMs: number, seen: 'running' | 'ended') => {
        const clock = { ...saga.clock, now: () => new Date(atMs) };
        return createSweep({ store: saga.store, engine: engineThat(seen), log, clock })();
      };
      for (let minute = 15; minute > 0; minute -= 1) await sweepAt(endMs - minute * MINUTE_MS - 1, 'running');
      expect(looks).toHaveLength(1);
      resumed.push(...(await sweepAt(endMs - SECOND_MS, 'ended')).resumed);
    });
    await saga.machine.settle();
    expect(resumed).toEqual([SAGA]);
    const { state } = await saga.sound();
    expect(state.status).toBe('COMPENSATED');
  });
});

test('sagas that ran as a step are taken back once the delayed effect on their resource is', async () => {
  const onAccount = { resourceKey: '"acct"' };
  let refusals = 0;
  const saga = await scriptedSaga({
    tools: [
      undoing('pay', DEFAULTS, onAccount),
      undoing('note', { ...DEFAULTS, delayedAfterSeconds: 1 }, onAccount),
      scriptedTool('fail', 'read'),
    ],
    steps: [
      { id: 'inner', saga: { plan: { steps: [{ id: 'pay', tool: 'pay', arguments: {} }] } }, input: {} },
      { id: 'note', tool: 'note', arguments: {} },
      { id: 'fail', tool: 'fail', arguments: {} },
    ],
    answer: ({ operation, step }) => {
      if (step === 'fail') return rejected();
      if (operation !== 'compensate' || step !== 'note' || refusals > 3) return committed();
      refusals += 1;
      return rejected(true);
    },
  });
  await saga.run();
  const { state, story } = await saga.sound();
  expect(story).toContain('undo delayed');
  expect(story).toContain('undo blocked');
  expect(state.status).toBe('COMPENSATED');
  expect((await saga.store.getHead(`${SAGA}.inner`))?.state.status).toBe('COMPENSATED');
});
