/** Sums of exactly the rows that finance reads. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createPaint } from '../../cli/terminal/terminal.ts';
import { totalsTables } from '../../cli/view/ledger-views.ts';
import { AMOUNT_DIRECTIONS } from '../../contract/amount-direction.ts';
import { createTotals } from '../../core/saga/ledger/totals.ts';
import type { Fact } from '../../core/saga/model/ledger-entry.ts';
import { EUR, march, moved, none, order, parent, refund } from '../support/finance-ledger.ts';
import {
  at,
  committed,
  DAY_MS,
  ledgerOf,
  openLedger,
  START,
  started,
  stepOf,
  undo,
} from '../support/ledger-world.ts';

describe('effects', () => {
  const ledger = openLedger([refund, order, parent]);

  test('that a person undid by hand are counted apart, with what they had moved, in parts too', async () => {
    const byHand = (id: string, amount: string) =>
      ledgerOf(id, 'shop', [
        [2, started(0, 'pay', {})],
        [2, committed(0, 'pay', EUR(amount))],
        [3, undo('failed', 0, 'pay')],
        [3, { direction: 'saga', status: 'compensation_failed' }],
        [4, { direction: 'operator', status: 'resolved', ...stepOf(0, 'pay'), evidence: 'wired' }],
        [4, { direction: 'saga', status: 'compensated' }],
      ]);
    const both = openLedger([refund, byHand('hand-1', '0.10'), byHand('hand-2', '0.20')]);
    const { all, byTool } = await both.totals(march);
    expect(all).toMatchObject([
      {
        currency: 'EUR',
        effects: 3,
        undoneEffects: 1,
        byHandEffects: 2,
        out: moved('20.29', '12.00', '0.30'),
        net: '-8.29',
      },
      { currency: null, effects: 1, byHandEffects: 1, out: none },
    ]);
    expect(byTool.map(({ key, out }) => `${key} ${out.byHand}`)).toEqual(['book 0', 'pay 0.30']);
    const parts = createTotals();
    for (const sagaId of ['refund-1', 'hand-1', 'hand-2']) parts.addTotals(await both.totals({ sagaId }));
    expect(parts.end().all).toEqual(all);
  });

  test('go in or out, and no sum adds up what went in opposite directions', async () => {
    const going = (id: string, amountDirection: string, amount: string, more: [number, Fact][] = []) =>
      ledgerOf(id, 'shop', [
        [2, started(0, id, {})],
        [2, committed(0, id, { amount, currency: 'EUR', amountDirection })],
        ...more,
      ]);
    const both = openLedger([
      going('charge', 'in', '84.00'),
      going('refund', 'out', '854.59', [
        [3, undo('committed', 0, 'refund', { amount: '54.59', currency: 'EUR', amountDirection: 'in' })],
      ]),
      going('hold', 'neither', '7.00'),
    ]);
    const { all, byTool } = await both.totals(march);
    expect(all).toMatchObject([
      {
        currency: 'EUR',
        effects: 3,
        in: moved('84.00'),
        out: moved('854.59', '54.59'),
        neither: moved('7.00'),
        net: '-716.00',
      },
    ]);
    expect(byTool.map(({ key, net }) => `${key} ${net}`)).toEqual([
      'charge 84.00',
      'hold 0',
      'refund -800.00',
    ]);
    const text = totalsTables(await both.totals(march), createPaint(false));
    expect(
      text
        .split('\n')
        .slice(0, 2)
        .map((line) => line.trim().split(/ {2,}/)),
    ).toEqual([
      [
        'TOTAL',
        'CURRENCY',
        'EFFECTS',
        'UNDONE',
        'IN',
        'IN TAKEN BACK',
        'OUT',
        'OUT TAKEN BACK',
        'NEITHER',
        'NEITHER TAKEN BACK',
        'NET',
      ],
      ['all', 'EUR', '3', '1', '84.00', '0', '854.59', '54.59', '7.00', '0', '-716.00'],
    ]);
  });

  test('have a total by tool, agent and day, which says what it does not know', async () => {
    const { all, byTool, byAgent, byDay, reconciliations, secondsToReconcile } = await ledger.totals(march);
    expect(all).toEqual([
      {
        key: null,
        currency: 'EUR',
        effects: 2,
        undoneEffects: 1,
        byHandEffects: 0,
        in: none,
        out: moved('19.98', '12.00'),
        neither: none,
        net: '-7.98',
      },
      {
        key: null,
        currency: null,
        effects: 2,
        undoneEffects: 0,
        byHandEffects: 1,
        in: none,
        out: none,
        neither: none,
        net: '0',
      },
    ]);
    expect(byTool.map(({ key, currency, net }) => `${key} ${currency} ${net}`)).toEqual([
      'book null 0',
      'gift null 0',
      'pay EUR -7.98',
    ]);
    expect(byAgent.map(({ key, currency, net }) => `${key} ${currency} ${net}`)).toEqual([
      'robot EUR 0.01',
      'robot null 0',
      'shop EUR -7.99',
      'shop null 0',
    ]);
    expect(byDay.map(({ key, currency, net }) => `${key} ${currency} ${net}`)).toEqual([
      '2026-03-01 EUR -7.99',
      '2026-03-01 null 0',
      '2026-03-02 EUR 0.01',
      '2026-03-02 null 0',
    ]);
    // From the first failure until nothing was left, however often it was tried.
    expect(reconciliations).toEqual([
      { sagaId: 'refund-1', failedAt: at(51), reconciledAt: at(55), seconds: 4 * 3600 },
    ]);
    expect(secondsToReconcile).toBe(4 * 3600);
  });
});

describe('whatever was done', () => {
  const cents = fc.integer({ min: -1e12, max: 1e12 });
  const money = (value: number) => {
    const text = String(Math.abs(value)).padStart(3, '0');
    return `${value < 0 ? '-' : ''}${text.slice(0, -2)}.${text.slice(-2)}`;
  };
  const effect = fc.record({
    hour: fc.integer({ min: 0, max: 200 }),
    tool: fc.constantFrom('pay', 'book', 'mail'),
    cents: fc.option(cents),
    currency: fc.constantFrom('EUR', 'USD'),
    amountDirection: fc.constantFrom(...AMOUNT_DIRECTIONS),
    back: fc.option(fc.record({ later: fc.integer({ min: 0, max: 100 }), cents })),
  });
  const sagas = fc.array(
    fc.record({
      agent: fc.constantFrom('a', 'b'),
      effects: fc.array(effect, { minLength: 1, maxLength: 6 }),
    }),
    { minLength: 1, maxLength: 8 },
  );

  test('totals are the sums of the rows, in pages of any size, and rows are what was written', async () => {
    await fc.assert(
      fc.asyncProperty(sagas, fc.integer({ min: 1, max: 20 }), async (list, limit) => {
        const ledger = openLedger(
          list.map(({ agent, effects }, index) =>
            ledgerOf(
              `s-${index}`,
              agent,
              effects
                .flatMap(
                  ({ hour, tool, cents: value, currency, amountDirection, back }, step): [number, Fact][] => [
                    [hour, started(step, tool)],
                    [
                      hour,
                      committed(
                        step,
                        tool,
                        value === null ? {} : { amount: money(value), currency, amountDirection },
                      ),
                    ],
                    ...(back === null
                      ? []
                      : [
                          [
                            hour + back.later,
                            undo('committed', step, tool, { amount: money(back.cents), currency }),
                          ] as [number, Fact],
                        ]),
                  ],
                )
                .toSorted(([one], [other]) => one - other),
            ),
          ),
          new Date(START + 20 * DAY_MS).toISOString(),
        );
        const rows = await ledger.effects({ ...march, limit });
        const all = list.flatMap(({ effects }) => effects);
        // Without an amount of the effect, its ledger does not say which way the money went.
        const wayOf = (one: (typeof all)[number]) => (one.cents === null ? 'neither' : one.amountDirection);
        expect(rows).toHaveLength(all.length);
        const totals = await ledger.totals(march);
        const summed = createTotals();
        for (const row of rows) summed.add(row, []);
        expect(totals).toEqual(summed.end());
        for (const currency of ['EUR', 'USD']) {
          const found = totals.all.find((one) => one.currency === currency);
          const centsOf = (text = '0') => Number(text.replace('.', ''));
          const left = { in: 0, out: 0, neither: 0 };
          for (const direction of AMOUNT_DIRECTIONS) {
            const of = all.filter((one) => one.currency === currency && wayOf(one) === direction);
            const expected = of.reduce((sum, one) => sum + (one.cents ?? 0), 0);
            const expectedBack = of.reduce((sum, one) => sum + (one.back?.cents ?? 0), 0);
            expect(centsOf(found?.[direction].amount)).toBe(expected);
            expect(centsOf(found?.[direction].undone)).toBe(expectedBack);
            left[direction] = expected - expectedBack;
          }
          expect(centsOf(found?.net)).toBe(left.in - left.out);
        }
        for (const by of [totals.byTool, totals.byAgent, totals.byDay]) {
          expect(by.reduce((sum, one) => sum + one.effects, 0)).toBe(all.length);
        }
      }),
      { numRuns: 40 },
    );
  });
});
