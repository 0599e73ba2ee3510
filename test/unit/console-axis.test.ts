/** What happened in a saga, on an axis of time. */
import { expect, test } from 'vitest';
import { axisPart, spansOf } from '../../console/parts/saga-axis.ts';
import type { LedgerRow } from '../../contract/ledger-query.ts';
import { NASTY } from '../support/console-in-process.ts';
import { ledgerRow } from '../support/ledger-world.ts';

const START = Date.parse('2026-01-02T10:00:00.000Z');

/** `seconds`: after the start. */
const row = (seq: number, seconds: number, what: string, more: Partial<LedgerRow> = {}): LedgerRow => {
  const [direction = '', status = ''] = what.split(' ');
  const about = {
    seq,
    step_index: 0,
    step: 'refund',
    tool: 'issue_refund',
    direction,
    status,
    actor: 'engine',
  };
  return ledgerRow({ ...about, at: new Date(START + seconds * 1000).toISOString(), ...more });
};

const ROWS = [
  row(0, 0, 'saga started', { step: null, tool: null }),
  row(1, 0, 'approval requested'),
  row(2, 7200, 'approval approved'),
  row(3, 7200, 'forward started', { attempt: 1 }),
  row(4, 7201, 'forward rejected', { error: 'ToolError: later', attempt: 1 }),
  row(5, 7201, 'saga paused', { step: null, tool: null }),
  row(6, 7211, 'saga resumed', { step: null, tool: null }),
  row(7, 7211, 'forward started', { attempt: 2 }),
  row(8, 7212, 'forward committed', { amount: '25.00', currency: 'EUR' }),
  row(9, 7300, 'undo started', { attempt: 1 }),
];

const told = (rows: LedgerRow[], isOver: boolean) =>
  spansOf(rows, isOver).map(({ kind, attempt, fromMs, toMs, end }) => [
    kind,
    attempt,
    (fromMs - START) / 1000,
    toMs === null ? null : (toMs - START) / 1000,
    end?.status,
  ]);

test('has waits, attempts and undo, each from its beginning to the entry that ended it', () => {
  expect(told(ROWS, false)).toEqual([
    ['wait', 1, 0, 7200, 'approved'],
    ['forward', 1, 7200, 7201, 'rejected'],
    ['wait', 1, 7201, 7211, 'resumed'],
    ['forward', 2, 7211, 7212, 'committed'],
    ['undo', 1, 7300, null, undefined],
  ]);
  // Where nothing goes on, a call whose end is not recorded has none.
  expect(told(ROWS, true).at(-1)).toEqual(['undo', 1, 7300, 7300, undefined]);
});

test('says in words what it draws, and draws a long wait shorter than it was', async () => {
  const page = String(await axisPart(ROWS, false, new Date(START + 7_310_000)));
  const text = page.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
  for (const words of [
    'Waits for approval of issue_refund',
    '2 h',
    'approved',
    'attempt 2',
    '25.00 EUR',
    'refused',
    'Undo issue_refund',
    'now',
  ])
    expect(text).toContain(words);
  const widths = [...page.matchAll(/width="(\d+)" height="10"/g)].map(([, width]) => Number(width));
  expect(widths).toHaveLength(5);
  expect(Math.min(...widths)).toBeGreaterThan(5);
  expect((widths[0] ?? 0) / (widths[1] ?? 1)).toBeLessThan(20);
});

test('has names and errors as text', async () => {
  const rows = [
    row(1, 0, 'forward started', { tool: NASTY }),
    row(2, 1, 'forward rejected', { tool: NASTY, error: NASTY }),
  ];
  const page = String(await axisPart(rows, true, new Date(START)));
  expect(page).not.toContain('<img');
  expect(page).not.toContain('\u202e');
});
