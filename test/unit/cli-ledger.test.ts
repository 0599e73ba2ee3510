/** `walkback ledger`: verify, and query of entries, effects and totals. */

import { describe, expect, test } from 'vitest';
import { fold } from '../../core/saga/decide/fold.ts';
import { chain, GENESIS_HASH } from '../../core/saga/entries/hash-chain.ts';
import { toRow } from '../../core/saga/ledger/ledger-row.ts';
import type { SagaHead } from '../../core/saga/model/head.ts';
import { errorOf } from '../support/error-of.ts';
import { runCommand } from '../support/recording-app.ts';

const env = { USER: 'ada' };
const { entries, tip } = chain(
  'r1',
  { seq: 0, tip: GENESIS_HASH },
  [
    { direction: 'saga', status: 'started', planHash: 'p', inputHash: 'i', stepCount: 0, requestHash: 'r' },
    { direction: 'saga', status: 'completed' },
  ],
  { at: '2026-01-02T10:00:00.000Z', actor: 'engine' },
);
const rows = entries.map(toRow);
const at = '2026-01-02T10:00:00.000Z';
const head: SagaHead = {
  sagaId: 'r1',
  version: 1,
  ...tip,
  state: fold(entries),
  requestHash: 'r',
  planHash: 'p',
  inputHash: 'i',
  requestedBy: 'engine',
  historyEvents: 0,
  createdAt: at,
  updatedAt: at,
  statusSince: at,
};
/** What a verify asks for: the entries, then the digests of each day. */
const chained = (some: typeof rows, firstDay: string | null = '2026-01-03') => ({
  'walkback-query-ledger': ({ anchorsOf: day }: { anchorsOf?: string }) =>
    day === undefined
      ? { entries: some, tip: { seq: tip.seq, hash: tip.tip }, evidence: { head, findings: [] } }
      : { anchors: { day, anchors: [], firstDay, publicKey: '' } },
});
const daysOf = (calls: { input: unknown }[]) =>
  calls.flatMap(({ input }) => (input as { anchorsOf?: string }).anchorsOf ?? []);

describe('walkback ledger', () => {
  test('verify accepts a whole chain, and names the entry that was changed or cut off', async () => {
    expect((await runCommand(['ledger', 'verify', 'r1'], { answers: chained(rows), env })).stdout).toContain(
      '✔ 2 entries',
    );
    const changed = rows.map((row) => (row.seq === 1 ? { ...row, actor: 'mallory' } : row));
    expect(
      (await runCommand(['ledger', 'verify', 'r1'], { answers: chained(changed), env })).failure,
    ).toMatchObject(errorOf('LedgerBroken', 'entry 1'));
    expect(
      (await runCommand(['ledger', 'verify', 'r1'], { answers: chained(rows.slice(0, 1)), env })).failure,
    ).toMatchObject({ name: 'LedgerBroken' });
  });

  test('verify reads no day before the first that was anchored, however long ago an edited entry says it was', async () => {
    const long = rows.map((row) => (row.seq === 1 ? { ...row, at: `0${row.at.slice(1)}` } : row));
    for (const [firstDay, read] of [
      ['2026-01-01', ['2026-01-02', '2026-01-01']],
      [null, ['2026-01-02', '2026-01-01']],
    ] as const) {
      const answers = chained(long, firstDay);
      const { failure, calls } = await runCommand(['ledger', 'verify', 'r1'], { answers, env });
      expect(failure).toMatchObject({ name: 'LedgerBroken', message: expect.stringContaining('entry 1') });
      expect([...new Set(daysOf(calls))]).toEqual(read);
    }
  });

  test('verify reads the days of the entries also on a machine whose clock is behind', async () => {
    const answers = chained(rows, '2026-01-01');
    const now = () => new Date('2025-12-24T12:00:00Z');
    const { calls } = await runCommand(['ledger', 'verify', 'r1'], { answers, env, now });
    expect(daysOf(calls)).toContain('2026-01-02');
  });

  test('query prints a table, JSON or CSV', async () => {
    const answers = { 'walkback-query-ledger': { entries: rows } };
    const table = await runCommand(['ledger', 'query', '--saga', 'r1'], { answers, env });
    expect(table.calls[0]?.input).toEqual({ sagaId: 'r1', limit: 200 });
    expect(table.stdout).toContain('saga completed');
    expect(table.stdout).not.toContain('LINK');
    const linked = { entries: rows.map((row) => ({ ...row, external_url: 'https://p.example/re_1' })) };
    const links = await runCommand(['ledger', 'query', '--saga', 'r1'], {
      answers: { 'walkback-query-ledger': linked },
      env,
    });
    expect(links.stdout).toMatch(/  LINK\n.*  https:\/\/p\.example\/re_1\n/);
    const csv = await runCommand(['ledger', 'query', '--day', '2026-01-02', '--csv'], { answers, env });
    expect(csv.stdout.split('\r\n')).toHaveLength(4);
    const json = await runCommand(['--json', 'ledger', 'query', '--ref', 're_1'], { answers, env });
    expect(JSON.parse(json.stdout)).toEqual({ entries: JSON.parse(JSON.stringify(rows)) });
  });

  test('query says that there are more rows and how to get them, and has the cursor with --json', async () => {
    /** Three rows, of which two fit; what is behind them is on an empty page and the one after it. */
    const paged =
      (behind: number) =>
      ({ view, limit, cursor }: { view?: string; limit: number; cursor?: string }) => {
        const name = view === 'effects' ? 'effects' : 'entries';
        if (cursor === 'empty') return { [name]: [], cursor: 'last' };
        if (cursor === 'last') return { [name]: rows.slice(0, behind) };
        return { [name]: rows.slice(0, limit), cursor: 'empty' };
      };
    for (const view of [[], ['--effects']]) {
      const ask = (words: string[], behind: number) =>
        runCommand([...words, 'ledger', 'query', ...view, '--day', '2026-01-02', '-n', '2', ...csv], {
          answers: { 'walkback-query-ledger': paged(behind) },
          env,
        });
      const csv = view.length === 0 ? ['--csv'] : [];
      const cut = await ask([], 1);
      expect(cut.stderr).toMatch(
        /the first 2 (entries|effects), and there are more: add --limit 20, or .* walkback ledger export FILE/,
      );
      expect(JSON.parse((await ask(['--json'], 1)).stdout)).toMatchObject({ cursor: 'empty' });
      expect((await ask([], 0)).stderr).not.toContain('there are more');
      expect(JSON.parse((await ask(['--json'], 0)).stdout)).not.toHaveProperty('cursor');
    }
  });

  test('query and export without a filter ask for the last seven days', async () => {
    const answers = { 'walkback-query-ledger': { entries: [] } };
    const { calls, failure } = await runCommand(['ledger', 'query'], { answers, env });
    expect(failure).toBeUndefined();
    expect(calls[0]?.input).toEqual({ limit: 200 });
  });

  test('query shows effects and adds up the totals of every page, as a table, JSON or CSV', async () => {
    const effect = {
      saga_id: 'r1',
      step_index: 0,
      epoch: 0,
      step: 'refund',
      tool: 'pay\u001b[2J',
      version: '1',
      agent: 'shop',
      resource_key: 'customer-7',
      external_ref: 're_1',
      status: 'undone',
      amount: '19.99',
      currency: 'EUR',
      amount_direction: 'out',
      amount_problem: null,
      committed_at: '2026-01-02T00:00:00.000Z',
      committed_seq: 3,
      undone_at: '2026-01-03T00:00:00.000Z',
      undone_seq: 5,
      undone_by: 'engine',
      undone_ref: null,
      undone_amount: '12.00',
      undone_currency: 'EUR',
      undone_problem: null,
      doubt: null,
      external_url: null,
      residue: null,
      failed_at: null,
      error: null,
      evidence: null,
    };
    const total = (key: string | null) => ({
      key,
      currency: 'EUR',
      effects: 1,
      undoneEffects: 0,
      byHandEffects: 0,
      in: { amount: '0.10', undone: '0', byHand: '0' },
      out: { amount: '0', undone: '0', byHand: '0' },
      neither: { amount: '0', undone: '0', byHand: '0' },
      net: '0.10',
    });
    const totals = (failedAt: string) => ({
      all: [total(null)],
      byTool: [total('pay')],
      byAgent: [total('shop')],
      byDay: [total('2026-01-02')],
      byStatus: [total('stands')],
      reconciliations: [{ sagaId: 'r1', failedAt, reconciledAt: failedAt, seconds: 7200 }],
      secondsToReconcile: 7200,
    });
    const answers = {
      'walkback-query-ledger': ({ view, cursor }: { view?: string; cursor?: string }) => {
        if (view === 'effects') return { effects: [effect] };
        const more = cursor === undefined ? { cursor: 'next' } : {};
        return { totals: totals(cursor === undefined ? 'a' : 'b'), ...more };
      },
    };
    const of = ['ledger', 'query', '--from', '2026-01-01', '--to', '2026-01-31'];
    const shown = await runCommand([...of, '--tool', 'pay'], { answers, env });
    expect(shown.calls[0]?.input).toEqual({
      from: '2026-01-01',
      to: '2026-01-31',
      tool: 'pay',
      view: 'effects',
      limit: 200,
    });
    const doubts = await runCommand([...of, '--doubt', '--status', 'undo_failed'], { answers, env });
    expect(doubts.calls[0]?.input).toMatchObject({ view: 'effects', doubt: true, status: 'undo_failed' });
    expect(shown.stdout).toMatch(/19\.99 EUR out +undone +2026-01-03 00:00:00 +12\.00 EUR/);
    expect(shown.stdout).not.toContain('\u001b[2J');
    expect(shown.stdout).not.toContain('in part');
    expect(shown.stdout).not.toContain('LINK');
    const show = (...effects: object[]) =>
      runCommand([...of, '--effects'], { answers: { 'walkback-query-ledger': { effects } }, env });
    const links = await show({ ...effect, external_url: 'https://p.example/re_1' }, effect);
    expect(links.stdout).toMatch(/  LINK\n.*  https:\/\/p\.example\/re_1\n/);
    const parted = await show({ ...effect, residue: 'the fee' });
    expect(parted.stdout).toMatch(/ undone in part /);
    expect(parted.stdout).toContain('1 effect was undone in part: what stays is in residue');
    const skipped = { ...effect, status: 'skipped', undone_amount: null, undone_currency: null };
    const left = await show(skipped);
    expect(left.stdout).toMatch(/19\.99 EUR out +skipped +- +-/);
    const doubtful = {
      ...effect,
      status: 'undo_failed',
      amount: null,
      undone_amount: null,
      doubt: 'Lost: no answer',
    };
    const doubted = await show(doubtful);
    expect(doubted.stdout).toMatch(/ undo failed, in doubt /);
    expect(doubted.stdout).toContain('1 effect is in doubt');
    const csv = await runCommand([...of, '--effects', '--csv'], { answers, env });
    expect(csv.stdout).toContain('"customer-7","re_1","undone",19.99,"EUR"');

    const summed = await runCommand([...of, '--totals'], { answers, env });
    expect(summed.calls.map(({ input }) => input)).toEqual([
      { from: '2026-01-01', to: '2026-01-31', view: 'totals' },
      { from: '2026-01-01', to: '2026-01-31', view: 'totals', cursor: 'next' },
    ]);
    expect(summed.stdout).toMatch(/shop +EUR +2 +0 +0\.20 +0 +0\.20\n/);
    expect(summed.stdout).toContain('2 failed compensations; 2 h on average to reconcile');
    const json = await runCommand(['--json', ...of, '--totals'], { answers, env });
    expect(JSON.parse(json.stdout)).toMatchObject({
      totals: { all: [{ effects: 2, in: { amount: '0.20' } }] },
    });
    const totalsAsCsv = await runCommand([...of, '--totals', '--csv'], { answers, env });
    expect(totalsAsCsv.stdout).toContain('"tool","pay","EUR",2,0,0,0.20,0,0,0,0,0,0,0,0,0.20');
    for (const verb of [['query'], ['export', 'x.csv']]) {
      const both = await runCommand(['ledger', ...verb, '--totals', '--effects'], { answers, env });
      expect(both.calls).toEqual([]);
      expect(both.failure?.message).toContain('--effects');
    }
    const help = await runCommand(['ledger', 'query', '--help'], { answers, env });
    for (const option of ['--totals', '--effects', '--from <day>', '--agent <name>']) {
      expect(help.stdout).toContain(option);
    }
  });
});
