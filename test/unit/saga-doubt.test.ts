import { describe, expect, test } from 'vitest';
import { move } from '../../core/saga/run/move.ts';
import { committed, lost, rejected, SAGA, scriptedSaga, scriptedTool } from '../support/scripted-saga.ts';

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
    await saga.begin();
    await saga.machine.settle();
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

describe('a lost answer of Advance', () => {
  test('to the first call of an execution leaves no doubt about a call that was never made', async () => {
    const saga = await scriptedSaga({
      tools: [scriptedTool('mail', 'irreversible', { idempotencyWindowSeconds: 0 })],
      answer: () => committed(),
      replay: true,
    });
    await saga.begin();
    await saga.machine.settle();
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
    await saga.begin();
    await saga.machine.settle();
    const { state, observation, story, isSound } = await saga.seen();
    expect(state.status).toBe('COMPENSATED');
    expect(observation.failed).toMatchObject({ step: 'charge', error, outcome: 'rejected' });
    expect(story).toContain('probe committed');
    expect(isSound).toBe(true);
  });

  test('that denies an irreversible call clears it: what is refused after that did not happen', async () => {
    let calls = 0;
    const saga = await scriptedSaga({
      tools: [scriptedTool('mail', 'irreversible', { probe: true })],
      answer: ({ operation }) => {
        if (operation === 'probe') return { Payload: { outcome: 'absent' } };
        calls += 1;
        return calls === 1 ? lost : rejected();
      },
    });
    await saga.begin();
    await saga.machine.settle();
    const { state, observation, isSound } = await saga.seen();
    expect(state.status).toBe('COMPENSATED');
    expect(observation.notCompensated).toEqual([]);
    expect(isSound).toBe(true);
  });

  test('that denies a compensatable call does not: it is undone all the same, for the tombstone', async () => {
    let calls = 0;
    const saga = await scriptedSaga({
      tools: [scriptedTool('charge', 'compensatable', { probe: true })],
      answer: ({ operation }) => {
        if (operation === 'probe') return { Payload: { outcome: 'absent' } };
        if (operation === 'compensate') return committed();
        calls += 1;
        return calls === 1 ? lost : rejected();
      },
    });
    await saga.begin();
    await saga.machine.settle();
    const { state, story } = await saga.seen();
    expect(state.status).toBe('COMPENSATED');
    expect(story).toContain('undo committed');
  });
});
