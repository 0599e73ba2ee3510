/** The ledger in the console: the reader's own days, what is asked of each view, and who may read nothing else. */
import { expect, test } from 'vitest';
import { presetsOf } from '../../console/parts/ledger-presets.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { made, NO_SAGA } from '../support/console-in-process.ts';

test.each([
  ['2026-11-29', ['2026-11-28', '2026-11-23', '2026-11-01', '2026-10-01 2026-10-31']],
  ['2026-03-02', ['2026-03-01', '2026-03-02', '2026-03-01', '2026-02-01 2026-02-28']],
  ['2028-01-01', ['2027-12-31', '2027-12-27', '2028-01-01', '2027-12-01 2027-12-31']],
])('on %s yesterday, the week and the months begin where they do', (today, days) => {
  const [first, yesterday, week, month, last] = presetsOf(today);
  expect(first).toEqual({ name: 'Today', from: today, to: today });
  expect([yesterday?.from, week?.from, month?.from, `${last?.from} ${last?.to}`]).toEqual(days);
});

const opened = async (path: string, zone?: string) => {
  const { fetchPage, enter, calls } = made(
    { 'query-ledger': () => ({ entries: [] }) },
    { now: () => new Date('2026-11-29T23:30:00.000Z') },
  );
  const { cookie } = await enter();
  const headers = { cookie: zone === undefined ? cookie : `${cookie}; walkback_zone=${zone}` };
  return { text: await (await fetchPage(path, { headers })).text(), calls };
};

test('today is that of the reader, whose browser names its zone', async () => {
  const { text, calls } = await opened('/ledger', 'Asia%2FTokyo');
  expect(calls[0]?.input).toMatchObject({ from: '2026-11-30', to: '2026-11-30', zone: 'Asia/Tokyo' });
  expect(text).toContain('Days and times are those of Asia/Tokyo.');
  expect(text).toMatch(/aria-current="true">Today</);
  // A file for others has the same days, wherever it is opened.
  expect(text).toContain('/ledger.csv?zone=Asia%2FTokyo&amp;from=2026-11-30');
});

test.each([undefined, 'Nowhere%2FLand', '%3Cimg'])('the zone %s is none, and days are UTC', async (zone) => {
  const { calls } = await opened('/ledger', zone);
  expect(calls[0]?.input).toEqual({ from: '2026-11-29', to: '2026-11-29', limit: 100 });
});

test('a zone that was asked for is used, whatever that of the reader is', async () => {
  const { calls } = await opened('/ledger?zone=Europe/Berlin', 'Asia%2FTokyo');
  expect(calls[0]?.input).toMatchObject({ from: '2026-11-30', zone: 'Europe/Berlin' });
});

const NO_TOTALS = {
  all: [],
  byTool: [],
  byAgent: [],
  byDay: [],
  byStatus: [],
  reconciliations: [],
  secondsToReconcile: null,
};

test.each([
  // A reference of a provider chooses effects and totals too.
  ['view=effects&from=&to=&saga=&ref=re_1&status=', { externalRef: 're_1', view: 'effects' }, undefined],
  ['view=totals&from=&to=&saga=&ref=re_1&status=', { externalRef: 're_1', view: 'totals' }, undefined],
  [
    'view=entries&from=2026-01-01&to=2026-01-02&tool=pay&agent=bot&reference=customer-1&status=',
    { from: '2026-01-01', to: '2026-01-02' },
    'All entries of these days are shown, whatever their tool, agent, resource.',
  ],
  [
    'view=effects&from=2026-01-01&to=2026-01-02&status=rejected',
    { from: '2026-01-01', to: '2026-01-02', view: 'effects' },
    'All effects of these days are shown, whatever their status.',
  ],
  [
    'view=totals&from=2026-01-01&saga=s&ref=re_1',
    { sagaId: 's', view: 'totals' },
    'All of this saga is shown, whatever its days, reference.',
  ],
  ['view=effects&from=&to=&saga=&status=in_doubt&tool=pay', { status: 'in_doubt', tool: 'pay' }, undefined],
  ['view=effects&status=undo_failed&doubt=true', { status: 'undo_failed', doubt: true }, undefined],
  ['view=totals&doubt=false', { doubt: false }, undefined],
  [
    'view=entries&from=2026-01-01&to=2026-01-02&doubt=true',
    { from: '2026-01-01', to: '2026-01-02' },
    'All entries of these days are shown, whatever their doubt.',
  ],
])('the ledger page, of another view than the form was of: %s', async (asked, input, said) => {
  const { fetchPage, enter, calls } = made({
    ...NO_SAGA,
    'query-ledger': ({ view }: { view?: string }) =>
      view === 'totals'
        ? { totals: NO_TOTALS }
        : { entries: [], effects: [], evidence: { head: null, findings: [] } },
  });
  const { cookie } = await enter();
  const text = await (await fetchPage(`/ledger?${asked}`, { headers: { cookie } })).text();
  expect(calls).toContainEqual({ name: 'query-ledger', input: expect.objectContaining(input) });
  if (said === undefined) expect(text).not.toContain('role="note"');
  else expect(text).toContain(said);
});

test.each(['effects', 'totals'])(
  'the %s of a saga say that it runs others, whose money is not in them',
  async (view) => {
    const { fetchPage, enter } = made({
      ...NO_SAGA,
      'query-ledger': (asked: { view?: string }) =>
        asked.view === undefined
          ? { entries: [], evidence: { head: null, findings: [] } }
          : { effects: [], totals: NO_TOTALS, below: ['s.kid'] },
    });
    const { cookie } = await enter();
    const page = async (more: string) =>
      (await fetchPage(`/ledger?view=${view}&saga=s${more}`, { headers: { cookie } })).text();
    const text = await page('');
    expect(text).toContain('It runs 1 saga as a step, and what they did is not in this');
    expect(text).toContain('saga=s.kid');
  },
);

test('an effect that is undone in part says so and what stays, also when its undo did not work at first', async () => {
  const effect = { saga_id: 's', status: 'undone', tool: 'pay', committed_at: '2026-01-01T00:00:00.000Z' };
  const { fetchPage, enter } = made({
    'query-ledger': () => ({ effects: [{ ...effect, residue: 'the fee stays', error: 'Lost: no answer' }] }),
  });
  const { cookie } = await enter();
  const text = await (await fetchPage('/ledger?view=effects&ref=re_1', { headers: { cookie } })).text();
  expect(text).toContain('>undone in part<');
  expect(text).toContain('the fee stays');
});

test('whoever may read only the ledger gets it as the first page, and as the page of a saga', async () => {
  const forbidden = (): never => {
    throw new WalkbackError('RoleMissing', 'not for finance');
  };
  const { fetchPage, enter, calls } = made({
    'list-sessions': forbidden,
    'list-sagas': forbidden,
    'list-locks': forbidden,
    'describe-saga': forbidden,
    'query-ledger': () => ({ entries: [], evidence: { head: null, findings: [] } }),
  });
  const { cookie } = await enter();
  for (const path of ['/', '/sagas/refund-7']) {
    const page = await fetchPage(path, { headers: { cookie } });
    expect(page.status, path).toBe(200);
    const text = await page.text();
    expect(text, path).toContain('<h1>Ledger</h1>');
    expect(text, path).toContain('<a href="/ledger" aria-current="page">');
    // That would lead to this page again.
    expect(text, path).not.toContain('href="/sagas/refund-7"');
  }
  expect(calls).toContainEqual({ name: 'query-ledger', input: { sagaId: 'refund-7', limit: 100 } });
  expect((await fetchPage('/sagas', { headers: { cookie } })).status).toBe(403);
});
