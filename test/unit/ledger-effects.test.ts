/** What finance reads: each committed effect and its undo in one row, and sums of exactly these rows. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createPaint } from '../../cli/terminal/terminal.ts';
import { totalsTables } from '../../cli/view/ledger-views.ts';
import { AMOUNT_DIRECTIONS } from '../../contract/amount-direction.ts';
import { type QueryLedgerInput, queryLedgerInput } from '../../contract/saga-inputs.ts';
import { createTotals } from '../../core/saga/ledger/totals.ts';
import type { Fact } from '../../core/saga/model/ledger-entry.ts';
import { parseInput } from '../../core/shared/parse-input.ts';
import {
  at,
  attempt,
  committed,
  DAY_MS,
  ledgerOf,
  openLedger,
  START,
  started,
  stepOf,
  undo,
  unknown,
} from '../support/ledger-world.ts';

const EUR = (amount: string) => ({ amount, currency: 'EUR', amountDirection: 'out' });
const paid = (amount: string) => ({ amount, currency: 'EUR', amount_direction: 'out' });
const moved = (amount: string, undone = '0', byHand = '0') => ({ amount, undone, byHand });
const none = moved('0');

const refund = ledgerOf('refund-1', 'shop', [
  [1, started(0, 'look', { effect: 'read' })],
  [1, committed(0, 'look')],
  [2, started(1, 'pay', { resourceKey: 'customer-7' })],
  [2, committed(1, 'pay', { ...EUR('19.99'), externalRef: 're_1' })],
  [3, started(2, 'book', { resourceKey: 'books' })],
  [3, committed(2, 'book', { externalRef: 'je_1' })],
  // Days later.
  [50, { direction: 'undo', status: 'started', ...stepOf(2, 'book'), ...attempt, deadlineMs: 0 }],
  [50, undo('failed', 2, 'book')],
  [51, undo('committed', 1, 'pay', { ...EUR('12.00'), externalRef: 're_1_back', residue: 'the fee' })],
  [51, { direction: 'saga', status: 'compensation_failed' }],
  [52, { direction: 'operator', status: 'retried', ...stepOf(2, 'book') }],
  [52, undo('failed', 2, 'book')],
  [52, { direction: 'saga', status: 'compensation_failed' }],
  [55, { direction: 'operator', status: 'resolved', ...stepOf(2, 'book'), evidence: 'ticket 12' }],
  [55, { direction: 'saga', status: 'compensated' }],
]);
const order = ledgerOf('order-1', 'robot', [
  [26, started(0, 'pay', { resourceKey: 'customer-7' })],
  [26, committed(0, 'pay', { ...EUR('-0.01'), externalRef: 're_2' })],
  [27, started(1, 'gift', {})],
  [27, committed(1, 'gift', { amountProblem: { name: 'AmountInvalid', message: 'the amount "x" is none' } })],
  [28, { direction: 'saga', status: 'completed' }],
]);
const parent = ledgerOf('parent', 'robot', [
  [26, started(0, 'saga', { children: [] })],
  [30, committed(0, 'saga')],
]);
const march = { from: '2026-03-01', to: '2026-03-31' };

describe('effects', () => {
  const ledger = openLedger([refund, order, parent]);

  test('are in one row with their undo, whenever that was; reads and steps with children are none', async () => {
    const rows = await ledger.effects(march);
    expect(rows.map(({ saga_id, step, status }) => `${saga_id} ${step} ${status}`)).toEqual([
      'refund-1 s1 undone',
      'refund-1 s2 resolved',
      'order-1 s0 stands',
      'order-1 s1 stands',
    ]);
    expect(rows[0]).toMatchObject({
      agent: 'shop',
      resource_key: 'customer-7',
      external_ref: 're_1',
      ...paid('19.99'),
      committed_at: at(2),
      undone_at: at(51),
      undone_ref: 're_1_back',
      undone_amount: '12.00',
      undone_currency: 'EUR',
      undone_by: 'engine',
      residue: 'the fee',
    });
    expect(rows[1]).toMatchObject({
      amount: null,
      failed_at: at(50),
      undone_at: at(55),
      undone_by: 'olga',
      evidence: 'ticket 12',
      error: 'No: no',
    });
    expect(rows[3]).toMatchObject({ amount: null, amount_problem: 'AmountInvalid: the amount "x" is none' });
  });

  test('are found by tool, agent, status, resource and reference, each once', async () => {
    const found = async (asked: QueryLedgerInput) =>
      (await ledger.effects(asked)).map(({ saga_id, step }) => `${saga_id}/${step}`);
    expect(await found({ ...march, tool: 'pay' })).toEqual(['refund-1/s1', 'order-1/s0']);
    expect(await found({ ...march, agent: 'robot' })).toEqual(['order-1/s0', 'order-1/s1']);
    expect(await found({ ...march, status: 'undone' })).toEqual(['refund-1/s1']);
    expect(await found({ ...march, reference: 'customer-7' })).toEqual(['refund-1/s1', 'order-1/s0']);
    expect(await found({ ...march, reference: 're_1_back' })).toEqual(['refund-1/s1']);
    expect(await found({ externalRef: 're_1' })).toEqual(['refund-1/s1']);
    expect(await found({ externalRef: 're_1_back' })).toEqual(['refund-1/s1']);
    expect(await found({ sagaId: 'refund-1' })).toEqual(['refund-1/s1', 'refund-1/s2']);
    expect(await found({ day: '2026-03-02' })).toEqual(['order-1/s0', 'order-1/s1']);
    expect(await found({ to: '2026-03-01' })).toEqual(['refund-1/s1', 'refund-1/s2']);
    // The last seven days, as of the seventh of March.
    expect(await found({})).toEqual(['refund-1/s1', 'refund-1/s2', 'order-1/s0', 'order-1/s1']);
  });

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

  test('that an undo or a rewind was allowed to leave are found, with who let them stand, when and why', async () => {
    const wire: readonly (readonly [number, Fact])[] = [
      [1, started(0, 'pay')],
      [1, committed(0, 'pay')],
      [2, started(1, 'wire', { effect: 'irreversible' })],
      [2, committed(1, 'wire', EUR('999.00'))],
    ];
    const undone = ledgerOf('undone', 'shop', [
      ...wire,
      [
        3,
        { direction: 'saga', status: 'undo_requested', acceptResidue: true, evidence: 'the bank keeps it' },
      ],
      [4, undo('committed', 0, 'pay')],
      [4, { direction: 'saga', status: 'compensated' }],
    ]);
    const to = { requestId: 'r', requestHash: 'h', after: null, cursor: 0, acceptResidue: true } as const;
    const rewound = (id: string, floor: number) =>
      ledgerOf(id, 'shop', [
        ...wire,
        [3, { direction: 'saga', status: 'rewind_requested', ...to, floor, reason: 'agreed by phone' }],
        [5, { direction: 'saga', status: 'rewound', epoch: 1 }],
      ]);
    const all = openLedger([undone, rewound('rewound', 1), rewound('beyond', 2), order]);
    const rows = await all.effects({ ...march, status: 'accepted' });
    expect(rows).toMatchObject([
      { saga_id: 'undone', step: 's1', undone_at: at(3), evidence: 'the bank keeps it', ...paid('999.00') },
      { saga_id: 'rewound', step: 's1', undone_at: at(3), undone_by: 'engine', evidence: 'agreed by phone' },
    ]);
    expect(await all.effects({ sagaId: 'beyond', status: 'stands' })).toHaveLength(2);
    const { csv = '' } = await all.query({ ...march, view: 'effects', status: 'accepted', format: 'csv' });
    expect(csv).toContain('"the bank keeps it"');
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

  test('come in pages that lose nothing and repeat nothing', async () => {
    const whole = await ledger.effects(march);
    for (const limit of [1, 2, 3]) expect(await ledger.effects({ ...march, limit })).toEqual(whole);
    const saga = await ledger.effects({ sagaId: 'refund-1' });
    expect(await ledger.effects({ sagaId: 'refund-1', limit: 1 })).toEqual(saga);
  });

  test('come with entries and totals in the first page, however many empty days are before them', async () => {
    const years = { from: '2017-01-01', to: '2026-03-31' };
    const [effects, entries, totals] = [
      await ledger.query({ ...years, view: 'effects', status: 'undone' }),
      await ledger.query({ ...years, status: 'committed' }),
      await ledger.query({ ...years, view: 'totals' }),
    ];
    expect(effects.effects).toHaveLength(1);
    expect(entries.entries?.length).toBeGreaterThan(5);
    expect(totals.totals?.all.length).toBeGreaterThan(0);
    for (const answer of [effects, entries, totals]) expect(answer).not.toHaveProperty('cursor');
  });

  test('over many days are answered in parts that do not take long', async () => {
    const slow = openLedger([refund, order, parent], at(24 * 6), 1000);
    for (const view of ['entries', 'effects', 'totals'] as const) {
      expect(await slow.query({ ...march, view }), view).toHaveProperty('cursor');
    }
    expect(await slow.effects(march)).toEqual(await ledger.effects(march));
    expect(await slow.totals(march)).toEqual(await ledger.totals(march));
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

  test('as CSV: a negative amount is a number, and what looks like a formula is text', async () => {
    const hostile = openLedger([
      ledgerOf('h-1', '=cmd()', [
        [1, started(0, 'pay', { resourceKey: '-1+1' })],
        [1, committed(0, 'pay', EUR('-5.00'))],
      ]),
    ]);
    const { csv = '' } = await hostile.query({ ...march, view: 'effects', format: 'csv' });
    const [, line = ''] = csv.split('\r\n');
    expect(line).toContain(`"'=cmd()","'-1+1",,"stands",-5.00,"EUR","out"`);
    const totals = await hostile.query({ ...march, view: 'totals', format: 'csv' });
    expect(totals.csv?.split('\r\n')[1]).toBe('"all",,"EUR",1,0,0,0,0,0,-5.00,0,0,0,0,0,5.00');
    expect(totals.csv).toContain(`"agent","'=cmd()","EUR",1,0,0,0,0,0,-5.00,0,0,0,0,0,5.00`);
  });

  test('take no status that nothing can have, as that of an entry which no day lists', () => {
    for (const status of ['nope', 'Committed', 'submitted', ''])
      expect(() => parseInput(queryLedgerInput(), { status }), status).toThrow('status: ');
    for (const status of ['COMPLETED', 'committed', 'stands'])
      expect(parseInput(queryLedgerInput(), { status })).toEqual({ status });
  });

  test('refuse what does not go together, and say what does', async () => {
    const refused: [QueryLedgerInput, string][] = [
      [{ view: 'effects', sagaId: 'refund-1', day: '2026-03-01' }, 'Give one of'],
      [{ tool: 'pay', day: '2026-03-01' }, 'view: tool, agent, reference and doubt'],
      [{ doubt: false, day: '2026-03-01' }, 'view: tool, agent, reference and doubt'],
      [{ view: 'effects', status: 'committed' }, 'status: an effect is stands, undoing'],
      [{ status: 'stands' }, 'status: no entry is stands'],
      [{ status: 'undone', day: '2026-03-01' }, 'status: no entry is undone'],
      [{ view: 'effects', from: '2026-03-02', to: '2026-03-01' }, 'from: 2026-03-02 is after 2026-03-01'],
      [{ view: 'effects', from: '2026-03-02', day: '2026-03-02' }, 'day: is one day'],
      [{ view: 'effects', from: '1990-01-01', to: '2026-03-01' }, 'at most 3660 at once'],
      [{ view: 'effects', cursor: 'x' }, 'cursor: take it from the answer before'],
      ...['x', '-5', '1.5', ' 1'].flatMap((cursor): [QueryLedgerInput, string][] => [
        [{ view: 'effects', sagaId: 'refund-1', cursor }, 'cursor: take it from the answer before'],
        [{ sagaId: 'refund-1', cursor }, 'cursor: take it from the answer before'],
        [{ status: 'COMPLETED', cursor: `|refund-1|${cursor}` }, 'cursor: take it from the answer before'],
      ]),
      [{ view: 'totals', evidence: true, sagaId: 'refund-1' }, 'view: anchorsOf and evidence'],
      [{ sagaId: 'refund-1', day: '2026-03-01' }, 'Give one of'],
      [{ evidence: true }, 'evidence: goes with sagaId or day'],
      // Else the days would not be looked at.
      [{ status: 'COMPLETED', day: '2026-03-01' }, 'without days'],
      [{ status: 'COMPENSATION_FAILED', from: '2026-03-01', to: '2026-03-02' }, 'without days'],
    ];
    for (const [asked, message] of refused)
      await expect(ledger.query(asked), message).rejects.toThrow(message);
    await expect(ledger.query({ view: 'effects', sagaId: 'nobody' })).rejects.toThrow(
      'There is no saga nobody',
    );
  });
});

describe('an effect in doubt', () => {
  const failedSaga: Fact = { direction: 'saga', status: 'compensation_failed' };
  const doubtful = ledgerOf('doubt', 'shop', [
    [1, started(0, 'pay', { resourceKey: 'customer-9' })],
    [1, unknown(0, 'pay')],
    [2, undo('failed', 0, 'pay')],
    [2, failedSaga],
  ]);
  const resolved = ledgerOf('resolved', 'shop', [
    [1, started(0, 'pay', { resourceKey: 'customer-9' })],
    [1, unknown(0, 'pay', { externalRef: 're_9' })],
    [2, undo('failed', 0, 'pay')],
    [2, failedSaga],
    [4, { direction: 'operator', status: 'retried', ...stepOf(0, 'pay') }],
    [4, undo('committed', 0, 'pay', EUR('12.00'))],
    [4, { direction: 'saga', status: 'compensated' }],
  ]);
  const irreversible = ledgerOf('mail', 'robot', [
    [1, started(0, 'mail', { effect: 'irreversible' })],
    [1, unknown(0, 'mail')],
    [30, failedSaga],
  ]);
  /** `pay` is settled forward, so no doubt is left. `book` is taken back at once by its key. */
  const settled = ledgerOf('settled', 'shop', [
    [1, started(0, 'pay')],
    [1, unknown(0, 'pay')],
    [1, { direction: 'probe', status: 'committed', ...stepOf(0, 'pay'), ...attempt, result: null }],
    [1, started(1, 'book')],
    [1, unknown(1, 'book')],
    [2, undo('committed', 1, 'book')],
    [2, undo('committed', 0, 'pay')],
    [2, { direction: 'saga', status: 'compensated' }],
  ]);
  const denied = ledgerOf('denied', 'robot', [
    [1, started(0, 'mail', { effect: 'irreversible' })],
    [1, unknown(0, 'mail')],
    [1, { direction: 'probe', status: 'absent', ...stepOf(0, 'mail'), ...attempt }],
    [2, { direction: 'saga', status: 'compensated' }],
  ]);
  /** It has no effects of its own, and its child could not be undone. */
  const parentOf = ledgerOf('root', 'boss', [
    [1, started(0, 'saga', { children: [] })],
    [3, failedSaga],
  ]);
  /** It may still be settled forward. */
  const underway = ledgerOf('underway', 'shop', [
    [1, started(0, 'pay')],
    [1, unknown(0, 'pay')],
  ]);
  const ledger = openLedger([doubtful, resolved, irreversible, settled, denied, parentOf, underway]);

  test('has a row once it is not settled forward, whatever became of it; it is found as any other', async () => {
    const found = async (asked: QueryLedgerInput) =>
      (await ledger.effects(asked)).map(({ saga_id, status, doubt }) => `${saga_id} ${status} ${doubt}`);
    const all = [
      'doubt undo_failed Lost: no answer',
      'resolved undone Lost: no answer',
      'mail in_doubt Lost: no answer',
      'settled undone null',
      'settled undone Lost: no answer',
    ];
    expect(await found(march)).toEqual(all);
    expect(await found({ ...march, status: 'in_doubt' })).toEqual([all[2]]);
    const doubts = all.filter((one) => one.includes('Lost'));
    expect(await found({ ...march, doubt: true })).toEqual(doubts);
    expect(await found({ ...march, doubt: false })).toEqual(['settled undone null']);
    expect(await found({ ...march, doubt: true, status: 'undo_failed' })).toEqual([all[0]]);
    expect(await found({ ...march, reference: 'customer-9' })).toEqual(all.slice(0, 2));
    expect(await found({ sagaId: 'doubt' })).toEqual([all[0]]);
    expect(await found({ externalRef: 're_9' })).toEqual([all[1]]);
    for (const limit of [1, 2]) expect(await found({ ...march, limit })).toEqual(all);
  });

  test('counts without an amount, also when it was undone, so that no sum has what may never have been given', async () => {
    const { all } = await ledger.totals(march);
    expect(all).toEqual([
      {
        key: null,
        currency: null,
        effects: 5,
        undoneEffects: 3,
        byHandEffects: 0,
        in: none,
        out: none,
        neither: none,
        net: '0',
      },
    ]);
  });

  test('every saga that failed in these days is told, with and without effects of its own', async () => {
    const failed = async (asked: QueryLedgerInput) =>
      (await ledger.totals(asked)).reconciliations.map(({ sagaId }) => sagaId);
    expect(await failed(march)).toEqual(['doubt', 'resolved', 'root', 'mail']);
    expect(await failed({ day: '2026-03-02' })).toEqual(['mail']);
    expect(await failed({ ...march, agent: 'boss' })).toEqual(['root']);
    expect(await failed({ ...march, tool: 'pay' })).toEqual(['doubt', 'resolved']);
    expect(await failed({ sagaId: 'root' })).toEqual(['root']);
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
