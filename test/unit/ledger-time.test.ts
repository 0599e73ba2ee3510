/** Days in a zone, what stood at the end of a day, and what was undone in a range of days. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createPaint } from '../../cli/terminal/terminal.ts';
import { totalsTables } from '../../cli/view/ledger-views.ts';
import { type QueryLedgerInput, queryLedgerInput } from '../../contract/saga-inputs.ts';
import { dayIn, firstUtcDay, lastUtcDay, timeIn } from '../../contract/zones.ts';
import type { Fact, LedgerEntry } from '../../core/saga/model/ledger-entry.ts';
import { parseInput } from '../../core/shared/parse-input.ts';
import { sagasOf } from '../support/ledger-export.ts';
import {
  attempt,
  committed,
  ledgerOf,
  openLedger,
  START,
  started,
  stepOf,
  undo,
  unknown,
} from '../support/ledger-world.ts';

const OUT = (amount: string) => ({ amount, currency: 'EUR', amountDirection: 'out' }) as const;
const NOW = '2026-12-31T00:00:00.000Z';
const HOUR_MS = 3_600_000;
const hoursTo = (time: string): number => (Date.parse(time) - START) / HOUR_MS;

/** One payment in each saga, at a time with its offset. */
const paidAt = (...times: readonly string[]): LedgerEntry[][] =>
  times.map((time, index) =>
    ledgerOf(`s${index}`, 'shop', [
      [hoursTo(time), started(0, 'pay')],
      [hoursTo(time), committed(0, 'pay', OUT(`${index + 1}.00`))],
    ]),
  );

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kolkata',
  'Pacific/Kiritimati',
  'Pacific/Pago_Pago',
  '+05:45',
];

describe('days of a zone', () => {
  // The clocks of Berlin go forward on 29 March 2026 and back on 25 October.
  const ledger = openLedger(
    paidAt(
      '2026-03-28T23:59:59+01:00',
      '2026-03-29T00:00:00+01:00',
      '2026-03-29T23:59:59+02:00',
      '2026-03-30T00:00:00+02:00',
      '2026-10-25T00:00:00+02:00',
      '2026-10-25T23:59:59+01:00',
      '2026-10-26T00:00:00+01:00',
    ),
    NOW,
  );
  const found = async (asked: QueryLedgerInput) => (await ledger.effects(asked)).map(({ saga_id: id }) => id);

  test('have 23 and 25 hours when the clocks change, in effects, entries and sums by day', async () => {
    const zone = 'Europe/Berlin';
    expect(await found({ day: '2026-03-29', zone })).toEqual(['s1', 's2']);
    expect(await found({ day: '2026-10-25', zone })).toEqual(['s4', 's5']);
    expect(await found({ day: '2026-03-29' })).toEqual(['s2', 's3']);
    for (const limit of [1, 2]) expect(await found({ day: '2026-03-29', zone, limit })).toEqual(['s1', 's2']);
    const { entries = [] } = await ledger.query({ day: '2026-03-29', zone, status: 'committed' });
    expect(entries.map(({ saga_id: id }) => id)).toEqual(['s1', 's2']);
    const totals = await ledger.query({ from: '2026-03-01', to: '2026-03-31', zone, view: 'totals' });
    expect(totals.totals?.byDay.map(({ key, out }) => `${key} ${out.amount}`)).toEqual([
      '2026-03-28 1.00',
      '2026-03-29 5.00',
      '2026-03-30 4.00',
    ]);
  });

  test('may be times with their offsets: from one on, up to the other', async () => {
    expect(await found({ from: '2026-03-29T00:00:00+01:00', to: '2026-03-30T00:00:00+02:00' })).toEqual([
      's1',
      's2',
    ]);
    expect(await found({ from: '2026-03-29', to: '2026-03-29T22:00:00Z' })).toEqual(['s2']);
  });

  test('are stated in CSV and in the table', async () => {
    const asked = { day: '2026-03-29', zone: 'Europe/Berlin', asOf: '2026-03-31' } as const;
    const { csv = '' } = await ledger.query({ ...asked, view: 'effects', format: 'csv' });
    expect(csv.split('\r\n')[0]).toMatch(/,day,zone,as_of$/);
    expect(csv.split('\r\n')[1]).toMatch(/,"2026-03-29","Europe\/Berlin","2026-03-31"$/);
    const sums = await ledger.query({ ...asked, view: 'totals', format: 'csv' });
    expect(sums.csv?.split('\r\n')[0]).toMatch(/,net,zone,as_of$/);
    const { totals } = await ledger.query({ ...asked, view: 'totals' });
    if (totals === undefined) return expect.unreachable();
    expect(totalsTables(totals, createPaint(false), asked.zone)).toContain('DAY (Europe/Berlin)');
  });

  test('that are none are refused', () => {
    for (const asked of [{ zone: 'Europe/Nowhere' }, { from: '2026-02-30' }, { to: '2026-03-01T00:00:00' }]) {
      expect(() => parseInput(queryLedgerInput(), asked)).toThrow(/(?:zone|from|to): /);
    }
  });

  test('of the index cover each time of a day, whatever the zone', () => {
    const time = fc.integer({ min: Date.parse('2025-01-01'), max: Date.parse('2028-01-01') });
    fc.assert(
      fc.property(time, fc.constantFrom(...ZONES), (ms, zone) => {
        const at = new Date(ms).toISOString();
        const day = dayIn(zone, at);
        expect(timeIn(zone, at).startsWith(day)).toBe(true);
        const utc = at.slice(0, 10);
        expect(firstUtcDay(day, zone) <= utc && utc <= lastUtcDay(day, zone)).toBe(true);
      }),
    );
  });
});

test('the calls of an idempotency key are found by it, whatever colons its saga has', async () => {
  const calls = (id: string): LedgerEntry[] =>
    ledgerOf(id, 'shop', [
      [1, { ...started(0, 'pay'), idempotencyKey: `${id}:0` } as Fact],
      [1, { ...committed(0, 'pay'), idempotencyKey: `${id}:0` } as Fact],
      [2, { ...undo('committed', 0, 'pay'), idempotencyKey: `${id}:0:undo` } as Fact],
    ]);
  const ledger = openLedger([calls('a:1'), calls('a')], NOW);
  const found = async (idempotencyKey: string, limit = 200) => {
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await ledger.query({ idempotencyKey, limit, ...(cursor === undefined ? {} : { cursor }) });
      seen.push(...(page.entries ?? []).map((one) => `${one.saga_id} ${one.direction} ${one.status}`));
      ({ cursor } = page);
    } while (cursor !== undefined);
    return seen;
  };
  for (const limit of [1, 200]) {
    expect(await found('a:1:0', limit)).toEqual(['a:1 forward started', 'a:1 forward committed']);
  }
  expect(await found('a:0:undo')).toEqual(['a undo committed']);
  expect(await found('a:7')).toEqual([]);
  await expect(found('a')).rejects.toThrow('idempotencyKey: a is no key');
  await expect(found('b:0')).rejects.toThrow('There is no saga b.');
});

describe('as of a day', () => {
  const begun: Fact = {
    direction: 'undo',
    status: 'started',
    ...stepOf(0, 'pay'),
    ...attempt,
    deadlineMs: 0,
  };
  const ledger = openLedger(
    [
      ledgerOf('paid', 'shop', [
        [1, started(0, 'pay')],
        [1, committed(0, 'pay', OUT('10.00'))],
        [30, begun],
        [31, undo('failed', 0, 'pay')],
        [31, { direction: 'saga', status: 'compensation_failed' }],
        [80, { direction: 'operator', status: 'retried', ...stepOf(0, 'pay') }],
        [80, undo('committed', 0, 'pay', { ...OUT('10.00'), amountDirection: 'in' })],
        [80, { direction: 'saga', status: 'compensated' }],
      ]),
      ledgerOf('lost', 'shop', [
        [2, started(0, 'pay')],
        [2, unknown(0, 'pay')],
        [
          26,
          {
            direction: 'probe',
            status: 'committed',
            ...stepOf(0, 'pay'),
            ...attempt,
            result: null,
            ...OUT('5.00'),
          },
        ],
      ]),
    ],
    NOW,
  );
  const march = { from: '2026-03-01', to: '2026-03-31' };
  const stood = async (asOf: string) =>
    (await ledger.effects({ ...march, asOf })).map(({ saga_id: id, status }) => `${id} ${status}`);

  test('effects are what stood, was in doubt and was open at its end', async () => {
    expect(await stood('2026-03-01')).toEqual(['paid stands', 'lost in_doubt']);
    expect(await stood('2026-03-02')).toEqual(['paid undo_failed', 'lost stands']);
    expect(await stood('2026-03-04')).toEqual(['paid undone', 'lost stands']);
    expect(await stood('2026-02-28')).toEqual([]);
    const netOf = async (asOf: string) => {
      const { all, byStatus, reconciliations } = await ledger.totals({ ...march, asOf });
      return [
        all.find(({ currency }) => currency === 'EUR')?.net,
        byStatus.map(({ key, effects }) => `${key} ${effects}`),
        reconciliations.map(({ reconciledAt }) => reconciledAt),
      ];
    };
    expect(await netOf('2026-03-01')).toEqual(['-10.00', ['in_doubt 1', 'stands 1'], []]);
    expect(await netOf('2026-03-02')).toEqual(['-15.00', ['stands 1', 'undo_failed 1'], [null]]);
  });

  test('and what was undone in a range of days is found and added up by the day of its undo', async () => {
    const undone = { undoneFrom: '2026-03-04', undoneTo: '2026-03-05' };
    expect((await ledger.effects(undone)).map(({ saga_id: id }) => id)).toEqual(['paid']);
    const { all, byDay } = await ledger.totals(undone);
    expect(all).toMatchObject([{ effects: 1, undoneEffects: 1, out: { amount: '10.00', undone: '10.00' } }]);
    expect(byDay.map(({ key }) => key)).toEqual(['2026-03-04']);
    expect(await ledger.effects({ ...undone, from: '2026-03-02' })).toEqual([]);
    expect(await ledger.effects({ ...undone, to: '2026-03-01' })).toHaveLength(1);
    expect(await ledger.effects({ ...undone, asOf: '2026-03-03' })).toEqual([]);
    expect(await ledger.effects({ undoneTo: '2026-03-03', undoneFrom: '2026-03-01' })).toEqual([]);
  });

  test('is of effects and totals, and says so', async () => {
    const refused: QueryLedgerInput[] = [{ asOf: '2026-03-01' }, { undoneFrom: '2026-03-01' }];
    for (const asked of refused)
      await expect(ledger.query(asked)).rejects.toThrow('go with the views effects and totals');
    await expect(ledger.query({ zone: 'UTC', sagaId: 'paid', evidence: true })).rejects.toThrow('zone: ');
  });

  test('never changes when later entries are appended, in any zone', async () => {
    await fc.assert(
      fc.asyncProperty(
        sagasOf(true),
        fc.integer({ min: 0, max: 13 }),
        fc.constantFrom(...ZONES),
        async (ledgers, later, zone) => {
          const asOf = dayIn(zone, new Date(START + later * 24 * HOUR_MS).toISOString());
          // What was there when the day was over, and what has come since.
          const then = ledgers
            .map((entries) => entries.filter(({ at }) => dayIn(zone, at) <= asOf))
            .filter((entries) => entries.length > 0);
          const asked = { from: '2026-02-01', to: '2026-03-31', zone, asOf };
          const before = openLedger(then, NOW);
          const after = openLedger(ledgers, NOW);
          expect(await after.effects(asked)).toEqual(await before.effects(asked));
          expect(await after.totals(asked)).toEqual(await before.totals(asked));
          const undone = { undoneFrom: '2026-02-01', undoneTo: '2026-03-31', zone, asOf };
          expect(await after.totals(undone)).toEqual(await before.totals(undone));
        },
      ),
      { numRuns: 40 },
    );
  });
});
