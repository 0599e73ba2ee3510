/** What an effect moved, and what was taken back, is in the ledger; a bad value is told and stops nothing. */
import { describe, expect, test } from 'vitest';
import { AMOUNT_DIRECTIONS } from '../../contract/amount-direction.ts';
import type { ToolRequest } from '../../contract/tool-request.ts';
import { fromRow, toRow } from '../../core/saga/ledger/ledger-row.ts';
import type { LedgerEntry } from '../../core/saga/model/ledger-entry.ts';
import type { ToolManifest } from '../../core/saga/model/tool.ts';
import { parseTool } from '../../core/saga/plan/catalog.ts';
import type { Invoked } from '../../core/saga/ports.ts';
import { committed, lost, rejected, scriptedSaga, scriptedTool } from '../support/scripted-saga.ts';

const PRICED = { amount: 'result.amount', currency: 'result.currency', amountDirection: 'out' } as const;

const payTool = (more: Partial<ToolManifest> = {}): ToolManifest =>
  scriptedTool('pay', 'compensatable', { ...PRICED, ...more });

const PAID = { amount: 1999, currency: 'usd' };
const isUndo = (request: ToolRequest): boolean => request.operation === 'compensate';

/** `pay`, then a step that is refused, so that everything goes back. */
const undone = (pay: ToolManifest, answer: (request: ToolRequest) => Invoked) =>
  scriptedSaga({
    tools: [pay, scriptedTool('fail', 'compensatable')],
    steps: [
      { id: 'pay', tool: 'pay', arguments: { cents: 1999 } },
      { id: 'fail', tool: 'fail', arguments: {} },
    ],
    answer: (request) => (request.step === 'fail' ? rejected() : answer(request)),
  });

const outcomesOf = (entries: readonly LedgerEntry[]) =>
  entries
    .filter((entry) => entry.status === 'committed')
    .map(({ direction, amount, currency, amountProblem }) => ({
      direction,
      ...(amount === undefined ? {} : { money: `${amount} ${currency ?? '?'}` }),
      ...(amountProblem === undefined ? {} : { problem: amountProblem.name }),
    }));

const run = async (pay: ToolManifest, answer: (request: ToolRequest) => Invoked) => {
  const saga = await undone(pay, answer);
  await saga.run();
  const seen = await saga.seen();
  expect(seen.isSound).toBe(true);
  return seen;
};

describe('an amount in the ledger', () => {
  test('is what the effect moved, and all of it is taken back unless the tool says otherwise', async () => {
    const { entries, state } = await run(payTool({ minorUnits: true }), (request) =>
      isUndo(request) ? committed(null) : committed(PAID),
    );
    expect(state.status).toBe('COMPENSATED');
    expect(outcomesOf(entries)).toEqual([
      { direction: 'forward', money: '19.99 USD' },
      { direction: 'undo', money: '19.99 USD' },
    ]);
  });

  test('goes the way that its tool declares, and the other way when it is taken back', async () => {
    const ways = { in: 'out', out: 'in', neither: 'neither' } as const;
    for (const way of AMOUNT_DIRECTIONS) {
      const { entries } = await run(payTool({ minorUnits: true, amountDirection: way }), (request) =>
        isUndo(request) ? committed(null) : committed(PAID),
      );
      const rows = entries.map(toRow).filter(({ amount }) => amount != null);
      expect(rows.map(({ direction, amount_direction: went }) => `${direction} ${went}`)).toEqual([
        `forward ${way}`,
        `undo ${ways[way]}`,
      ]);
    }
  });

  test('is taken back too when the compensator answers that it found nothing', async () => {
    const { entries, state } = await run(payTool({ minorUnits: true }), (request) =>
      isUndo(request) ? { Payload: { outcome: 'absent' } } : committed(PAID),
    );
    expect(state.status).toBe('COMPENSATED');
    expect(outcomesOf(entries)).toEqual([
      { direction: 'forward', money: '19.99 USD' },
      { direction: 'undo', money: '19.99 USD' },
    ]);
  });

  test('of an undo is its own: a part may be taken back, in another currency', async () => {
    const partly = payTool({
      compensation: {
        name: 'undo_pay',
        timeoutSeconds: 10,
        retry: { maxAttempts: 1, backoffSeconds: 1, backoffRate: 1, maxBackoffSeconds: 1 },
        amount: 'undone.refunded',
        currency: 'undone.currency',
      },
    });
    const { entries } = await run(partly, (request) =>
      isUndo(request)
        ? committed({ refunded: '12.00', currency: 'EUR' })
        : committed({ ...PAID, amount: '19.99' }),
    );
    expect(outcomesOf(entries)).toEqual([
      { direction: 'forward', money: '19.99 USD' },
      { direction: 'undo', money: '12.00 EUR' },
    ]);
  });

  test('is known from a probe too, and from the arguments', async () => {
    const asked = {
      ...payTool({ amount: 'arguments.cents', currency: '"CHF"', minorUnits: true }),
      probe: true,
    };
    const { entries } = await run(asked, (request) => {
      if (request.operation === 'probe') return committed({});
      return isUndo(request) ? committed(null) : lost;
    });
    expect(outcomesOf(entries)).toEqual([
      { direction: 'probe', money: '19.99 CHF' },
      { direction: 'undo', money: '19.99 CHF' },
    ]);
  });

  test('is missing for a call that never is known to have happened', async () => {
    const { entries, state } = await run(payTool(), (request) => (isUndo(request) ? committed(null) : lost));
    expect(state.status).toBe('COMPENSATED');
    expect(outcomesOf(entries)).toEqual([{ direction: 'undo' }]);
  });

  test('that is none is told by name, and stops nothing', async () => {
    const problems: [Partial<ToolManifest>, object, string][] = [
      [{}, { amount: 0.1 + 0.2, currency: 'EUR' }, 'AmountInvalid'],
      [{}, { amount: 'a lot', currency: 'EUR' }, 'AmountInvalid'],
      [{}, { amount: '1.00', currency: 'Euro' }, 'CurrencyInvalid'],
      [{}, { currency: 'EUR' }, 'AmountUnresolved'],
      [{ amount: '$sum(result.amount) & $pad("x", 1000000000)' }, PAID, 'AmountUnresolved'],
      [{ minorUnits: true }, { amount: '1.00', currency: 'EUR' }, 'AmountInvalid'],
    ];
    for (const [more, result, problem] of problems) {
      const { entries, state } = await run(payTool(more), (request) =>
        isUndo(request) ? committed(null) : committed(result),
      );
      expect(state.status).toBe('COMPENSATED');
      expect(outcomesOf(entries)).toEqual([{ direction: 'forward', problem }, { direction: 'undo' }]);
    }
    const { entries, state } = await run(
      payTool({
        compensation: {
          name: 'undo_pay',
          timeoutSeconds: 10,
          retry: { maxAttempts: 1, backoffSeconds: 1, backoffRate: 1, maxBackoffSeconds: 1 },
          amount: 'undone.refunded',
        },
      }),
      (request) => (isUndo(request) ? committed({ refunded: {} }) : committed({ ...PAID, amount: '19.99' })),
    );
    expect(state.status).toBe('COMPENSATED');
    expect(outcomesOf(entries)).toEqual([
      { direction: 'forward', money: '19.99 USD' },
      { direction: 'undo', problem: 'AmountInvalid' },
    ]);
  });

  test('has columns, and an entry comes back from its row', async () => {
    const { entries } = await run(payTool(), (request) =>
      isUndo(request) ? committed(null) : committed({ amount: '19.99', currency: 'USD' }),
    );
    const rows = entries.map(toRow);
    expect(rows.flatMap(({ amount, currency }) => (amount == null ? [] : [`${amount} ${currency}`]))).toEqual(
      ['19.99 USD', '19.99 USD'],
    );
    expect(rows.map(fromRow)).toEqual(entries);
  });

  test('is shown to the approver when the arguments say it, and nobody guesses otherwise', async () => {
    const approval = { timeoutSeconds: 60 };
    const awaited = async (tool: ToolManifest) => {
      const saga = await scriptedSaga({
        tools: [tool],
        steps: [{ id: 'pay', tool: 'pay', arguments: { cents: 500 }, approval }],
        answer: () => committed(PAID),
        onAwait: () => Promise.reject(new Error('seen')),
      });
      await saga.begin();
      await saga.machine.settle().catch(() => undefined);
      return (await saga.seen()).observation.awaiting;
    };
    expect(
      await awaited(payTool({ amount: 'arguments.cents', currency: '"EUR"', minorUnits: true })),
    ).toMatchObject({
      step: 'pay',
      amount: '5.00',
      currency: 'EUR',
    });
    const unknown = await awaited(payTool());
    expect(unknown?.step).toBe('pay');
    expect(unknown).not.toHaveProperty('amount');
  });
});

describe('the catalog', () => {
  test('refuses a declaration that leaves something to be guessed', () => {
    const retry = { maxAttempts: 1, backoffSeconds: 1, backoffRate: 1, maxBackoffSeconds: 1 };
    const refused: [ToolManifest, string][] = [
      [payTool({ amount: 'result.', currency: '"EUR"' }), 'amount: Not a JSONata expression'],
      [payTool({ amount: '$random()' }), 'amount: $random answers differently each time'],
      [scriptedTool('pay', 'compensatable', { amount: '1' }), 'it has one of amount and currency'],
      [payTool({ amountDirection: undefined }), 'it has an amount and no amountDirection'],
      [scriptedTool('pay', 'compensatable', { amountDirection: 'in' }), 'no amount; give it one'],
      [scriptedTool('look', 'read', PRICED), 'it is read and has an amount'],
      [scriptedTool('halve', 'partial', PRICED), 'it is partial and has an amount'],
      [
        scriptedTool('pay', 'compensatable', {
          compensation: { name: 'undo_pay', timeoutSeconds: 10, retry, amount: 'undone' },
        }),
        'no amount of its own',
      ],
      [scriptedTool('pay', 'compensatable', { resourceKey: 'a b' }), 'resourceKey: Not a JSONata expression'],
    ];
    for (const [tool, message] of refused) expect(() => parseTool(tool), message).toThrow(message);
    expect(parseTool(payTool({ minorUnits: true }))).toMatchObject({ ...PRICED, minorUnits: true });
  });
});
