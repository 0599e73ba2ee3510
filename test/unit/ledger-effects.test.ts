/** What finance reads: each committed effect and its undo in one row, in pages, and what is asked wrongly. */
import { describe, expect, test } from 'vitest';
import { type QueryLedgerInput, queryLedgerInput } from '../../contract/saga-inputs.ts';
import type { Fact } from '../../core/saga/model/ledger-entry.ts';
import { parseInput } from '../../core/shared/parse-input.ts';
import { EUR, march, none, order, paid, parent, refund } from '../support/finance-ledger.ts';
import {
  at,
  attempt,
  committed,
  ledgerOf,
  openLedger,
  started,
  stepOf,
  undo,
  unknown,
} from '../support/ledger-world.ts';

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
