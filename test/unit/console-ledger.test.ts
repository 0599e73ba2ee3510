/** The ledger in the reader's own days. */
import { expect, test } from 'vitest';
import { presetsOf } from '../../console/parts/ledger-presets.ts';
import { made } from '../support/console-in-process.ts';

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
