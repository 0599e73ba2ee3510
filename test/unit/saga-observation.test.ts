/** What is told of a saga while it moves, and when people turned it round (S12). */
import { describe, expect, test } from 'vitest';
import { createPaint } from '../../cli/terminal/terminal.ts';
import { observationText } from '../../cli/view/saga-views.ts';
import type { Observation } from '../../contract/saga-observation.ts';
import { observation as shape } from '../../contract/saga-observation.ts';
import { createDescribe } from '../../core/saga/view/describe.ts';
import { plainTool } from '../support/outage-tools.ts';
import { committed, lost, rejected, SAGA, scriptedSaga, scriptedTool } from '../support/scripted-saga.ts';

const HOUR_MS = 3600_000;
const plain = createPaint(false);
const textOf = (seen: Observation): string => observationText(seen, plain, 200);

const approving = async (act: (saga: Awaited<ReturnType<typeof scriptedSaga>>) => Promise<unknown>) => {
  const pay = scriptedTool('pay', 'compensatable');
  const saga = await scriptedSaga({
    tools: [pay],
    steps: [{ id: 'pay', tool: 'pay', arguments: {}, approval: { timeoutSeconds: 60 } }],
    answer: () => committed(),
    onAwait: async () => {
      await act(saga);
      return true;
    },
  });
  await saga.run();
  return (await saga.seen()).observation;
};

describe('an observation', () => {
  test('says who declined, and why', async () => {
    const seen = await approving(({ machine }) =>
      machine.answer({
        sagaId: SAGA,
        stepId: 'pay',
        decision: 'reject',
        by: 'ada',
        note: 'twice the amount',
      }),
    );
    expect(seen.failed).toMatchObject({ by: 'ada', reason: 'twice the amount' });
    expect(textOf(seen)).toContain('by ada, a name that nobody proved: twice the amount');
  });

  test('says who cancelled, and why', async () => {
    const seen = await approving(({ machine }) =>
      machine.operate({ sagaId: SAGA, action: 'cancel', by: 'bob', evidence: 'wrong customer' }),
    );
    expect(seen.failed).toMatchObject({ outcome: 'cancelled', by: 'bob', reason: 'wrong customer' });
  });

  test('says nobody of a saga that a tool turned round', async () => {
    const saga = await scriptedSaga({
      tools: [scriptedTool('pay', 'compensatable')],
      answer: () => rejected(),
    });
    await saga.run();
    const { failed } = (await saga.seen()).observation;
    expect(failed).toMatchObject({ step: 'pay' });
    expect(failed).not.toHaveProperty('by');
  });

  test('says what it does and until when: the call, the pause, and what is delayed', async () => {
    const during: Observation[] = [];
    const calledAgain: Observation['notCompensated'] = [];
    let delayed: Observation | undefined;
    const saga = await scriptedSaga({
      tools: [
        scriptedTool('pay', 'compensatable', {
          compensation: plainTool.compensation ?? expect.unreachable(),
        }),
        scriptedTool('last', 'irreversible'),
      ],
      answer: async ({ operation, step }) => {
        const seen = (await saga.seen()).observation;
        // A compensation that is refused is tried again for days; what is said of it does not change.
        if (during.length < 8) during.push(seen);
        if (operation === 'compensate') calledAgain.push(...seen.notCompensated);
        if (operation === 'compensate') return rejected(true);
        return step === 'last' ? rejected() : committed();
      },
    });
    saga.clock.later(HOUR_MS, async () => {
      delayed = (await saga.seen()).observation;
    });
    await saga.run();
    const [calling, , compensating] = during;
    expect(calling?.doing).toMatchObject({
      what: 'calling',
      step: 'pay',
      attempt: 1,
      idempotencyKey: `${SAGA}:0`,
    });
    expect(Date.parse(calling?.doing?.until ?? '')).toBeGreaterThan(0);
    expect(compensating?.doing).toMatchObject({ what: 'compensating', step: 'pay' });
    expect(delayed?.doing).toMatchObject({ what: 'pausing', reason: expect.stringContaining('delayed') });
    expect(delayed?.notCompensated).toMatchObject([
      {
        step: 'pay',
        reason: expect.stringContaining(
          `compensation delayed; called again from ${delayed?.doing?.until} on: Refused`,
        ),
        error: { name: 'Refused' },
        nextAttempt: delayed?.doing?.until,
      },
    ]);
    expect(textOf(delayed ?? expect.unreachable())).toContain('pauses · until');
    // While it is called, no time is named that has passed.
    expect(calledAgain.at(-1)).toMatchObject({
      reason: expect.stringContaining('compensation delayed; called again now: Refused'),
    });
    expect(calledAgain.filter(({ nextAttempt }) => nextAttempt !== undefined)).toEqual([]);
    const ended = (await saga.seen()).observation;
    expect(ended.doing).toBeUndefined();
    for (const one of [...during, delayed, ended]) {
      expect(shape().safeParse(one).error, 'is as the contract says').toBeUndefined();
    }
  });

  test('names the key of a call whose answer was lost for good', async () => {
    const saga = await scriptedSaga({
      tools: [scriptedTool('mail', 'irreversible', { idempotencyWindowSeconds: 0 })],
      answer: () => lost,
    });
    await saga.run();
    const { observation } = await saga.seen();
    expect(observation.notCompensated).toMatchObject([{ step: 'mail', idempotencyKey: `${SAGA}:0` }]);
    expect(textOf(observation)).toContain(`its key at the provider: ${SAGA}:0`);
  });

  test('holds small results, says where large ones are, and stays small itself', async () => {
    const sizes = [10, 2040, 2060, 30_000, ...Array.from({ length: 30 }, () => 1900)];
    const saga = await scriptedSaga({
      tools: [scriptedTool('look', 'read')],
      steps: sizes.map((_, index) => ({ id: `s${index}`, tool: 'look', arguments: {} })),
      answer: ({ step }) => committed('x'.repeat(sizes[Number(step.slice(1))] ?? 0)),
    });
    await saga.run();
    const { entries } = await saga.seen();
    // As the function tells it, from the stored ledger.
    const observation = await createDescribe(saga)(SAGA);
    expect(observation.results).toHaveLength(sizes.length);
    for (const { step, seq, result } of observation.results) {
      expect(entries[seq]).toMatchObject({ step, status: 'committed' });
      if (result !== undefined) expect(entries[seq]).toMatchObject({ result });
    }
    expect(observation.results.slice(0, 4).map(({ result }) => result !== undefined)).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(Buffer.byteLength(JSON.stringify(observation))).toBeLessThan(40_000);
    expect(observation.results.filter(({ result }) => result === undefined).length).toBeGreaterThan(10);
  });
});
