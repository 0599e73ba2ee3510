/** What reviewers, operators and finance people do at the console: a real browser over the real functions. */
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LedgerAnswer } from '../../contract/ledger-query.ts';
import { openBrowser } from '../support/browser.ts';
import {
  comeIn,
  expectAccessible,
  expectOnlyText,
  keepPicture,
  type Person,
} from '../support/console-browser.ts';
import {
  type ConsoleWorld,
  failedRefund,
  MAIL,
  playStory,
  refund,
  startConsoleWorld,
} from '../support/console-world.ts';
import { openTables } from '../support/tampering.ts';

const browser = await openBrowser();
const PHONE = { width: 390, height: 844 };

describe.skipIf(!browser.isThere)('people at the console', () => {
  let world: ConsoleWorld;
  let rita: Person & AsyncDisposable;
  let url: string;

  beforeAll(async () => {
    world = await startConsoleWorld();
    await playStory(world);
    await refund(world, 'done', 'msg-3');
    await failedRefund(world, 'failed', 'msg-3');
    for (const saga of ['phone', 'script', 'twice']) await world.asking(saga);
    ({ url } = await world.serve('rita', 60_000));
    rita = await comeIn(browser.running(), url);
  });
  afterAll(async () => {
    await browser.close();
    await world.close();
  });

  const cardOf = (page: Page, saga: string) =>
    page
      .locator('section.card')
      .filter({ has: page.locator(`a[href="/sagas/${saga}"]`) })
      .first();

  test.each([
    ['phone', false],
    ['script', true],
  ] as const)('an approval on a phone, with the keyboard: %s', async (saga, javaScriptEnabled) => {
    const console = await world.serve('rita', 60_000);
    await using phone = await comeIn(browser.running(), console.url, {
      viewport: PHONE,
      javaScriptEnabled,
      hasTouch: true,
      isMobile: true,
    });
    const { page } = phone;
    await page.getByRole('link', { name: 'Queue' }).click();
    const card = cardOf(page, saga);
    expect(await card.getByText(MAIL.entry).count()).toBe(1);
    const approve = card.getByRole('button', { name: 'Approve exactly this' });
    const { width, height } = (await approve.boundingBox()) ?? { width: 0, height: 0 };
    // A thumb hits it, and nothing has to be moved sideways.
    expect(height).toBeGreaterThanOrEqual(36);
    expect(width).toBeGreaterThan(PHONE.width / 2);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width);
    // axe is a script itself.
    await (javaScriptEnabled ? expectAccessible : keepPicture)(page, `queue-phone-${saga}`);
    await approve.focus();
    await page.keyboard.press('Enter');
    await page.getByText('Approved by rita').waitFor();
    expect(await world.sagas.observe(saga, 5)).toMatchObject({ committed: [{ step: 'mail' }] });
    await expectOnlyText(phone);
  });

  test('a second approver is told who was first', async () => {
    const console = await world.serve('omar', 60_000);
    await using omar = await comeIn(browser.running(), console.url);
    await Promise.all([rita.page.goto(`${url}/queue`), omar.page.goto(`${console.url}/queue`)]);
    for (const { page } of [rita, omar]) {
      await cardOf(page, 'twice').getByRole('button', { name: 'Approve exactly this' }).click();
      await page.getByText('Approved by rita').waitFor();
    }
  });

  test('a failed compensation is resolved, and only with evidence', async () => {
    const { page } = rita;
    await page.goto(`${url}/queue`);
    const card = cardOf(page, 'failed');
    const byHand = card.getByRole('button', { name: 'Undone by hand' }).first();
    await expectAccessible(page, 'queue-failed');
    await byHand.click();
    // Still the same page: the browser asks for the evidence first.
    expect(page.url()).toBe(`${url}/queue`);
    await card.getByLabel('Evidence').first().fill('Booked back by hand, journal 4711');
    await byHand.click();
    await page.getByRole('heading', { level: 1, name: /^Refund/ }).waitFor();
    expect(await page.getByText('Booked back by hand, journal 4711').count()).toBeGreaterThan(0);
    expect(await world.sagas.observe('failed', 20)).toMatchObject({ status: 'COMPENSATED' });
  });

  test('the ledger is filtered and added up, every sum leads to its rows, and the CSV has all of them', async () => {
    const { page } = rita;
    await page.goto(`${url}/ledger`);
    await page.getByLabel('Saga').fill('done');
    await page.getByRole('button', { name: 'Show' }).click();
    const asked = { sagaId: 'done' };
    const { entries = [] } = (await world.invoke('query-ledger', asked)) as unknown as LedgerAnswer;
    expect(await page.locator('tbody tr').count()).toBe(entries.length);
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'CSV of all rows' }).click();
    const csv = readFileSync(await (await downloading).path(), 'utf8');
    expect(csv.trim().split('\n')).toHaveLength(entries.length + 1);

    await page.goto(`${url}/ledger`);
    await page.getByLabel('Show', { exact: true }).selectOption('totals');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByRole('heading', { name: 'By tool' }).waitFor();
    await expectAccessible(page, 'ledger-totals');
    const row = page.getByRole('group', { name: 'By tool' }).locator('tbody tr', { hasText: 'issue_refund' });
    const [, effects = '', , amount = ''] = await row.locator('td').allInnerTexts();
    expect(amount).toMatch(/^\d+(\.\d+)? [A-Z]{3}$/);
    await row.getByRole('link').click();
    await page.getByRole('group', { name: 'Effects, each with its undo' }).waitFor();
    expect(await page.locator('tbody tr').count()).toBe(Number(effects));
    expect(await page.locator('tbody tr', { hasText: 'undone' }).count()).toBe(1);
    await expectAccessible(page, 'ledger-effects');
  });

  test('the badge of a saga turns red when its ledger was tampered with', async () => {
    const { page } = rita;
    await page.goto(`${url}/sagas/done`);
    await page.getByText('As it was written.').waitFor();
    const tables = openTables(world.sagas.cloud);
    try {
      const stored = (await tables.of('done')).filter(({ table }) => table === tables.ledger);
      const entry = stored.find(({ item }) => item['external_ref'] !== undefined);
      if (entry === undefined) throw new Error('no entry with a reference');
      await tables.put({ ...entry, item: { ...entry.item, external_ref: { S: 're_somebody_else' } } });
      const alert = page.getByRole('alert').filter({
        has: page.getByRole('heading', { name: 'Not as it was written', exact: true }),
      });
      await page.reload();
      await alert.getByText(`entry ${entry.item['seq']?.N}`).first().waitFor();
      // What was found, beside what is stored; nothing else is told of the saga, and no error by its name.
      expect(await page.getByText('re_somebody_else').count()).toBe(1);
      expect(await page.getByText('LedgerBroken').count()).toBe(0);
      expect(await page.getByRole('heading', { name: 'Steps' }).count()).toBe(0);
      await expectAccessible(page, 'tampered');
      await page.goto(`${url}/ledger?saga=done`);
      await alert.getByText(`entry ${entry.item['seq']?.N}`).first().waitFor();
      await tables.put(entry);
      await page.reload();
      await page.getByText('As it was written.').waitFor();
    } finally {
      tables.close();
    }
  });

  test.each([
    '/',
    '/queue',
    '/sagas',
    '/sagas/failed',
    '/ledger',
    '/catalog',
    '/sessions/s1?message=msg-3',
    '/sessions/s1/compare',
    '/nowhere',
  ])('%s passes axe, in light and dark, and has a twin', async (path) => {
    const { page } = rita;
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(`${url}${path}`);
      await expectAccessible(page, `page${path.replaceAll(/[^a-z0-9]+/gi, '-')}-${colorScheme}`);
    }
    await expectOnlyText(rita);
    const twin = await page.request.get(`${url}${path}`, { headers: { accept: 'application/json' } });
    expect(twin.headers()['content-type']).toContain('application/json');
  });

  test('a message is reached, planned back to, and left by the keyboard alone', async () => {
    const { page } = rita;
    await page.goto(url);
    const tabTo = async (text: string, most = 40): Promise<void> => {
      for (let presses = 0; presses < most; presses += 1) {
        await page.keyboard.press('Tab');
        const at = String(
          await page.evaluate(
            'document.activeElement?.matches("a, button") ? document.activeElement.textContent : ""',
          ),
        );
        if (at.includes(text)) return;
      }
      throw new Error(`${text} is not reached`);
    };
    await tabTo('Skip to the content');
    await page.keyboard.press('Enter');
    await tabTo('s1');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Session s1' }).waitFor();
    await tabTo('Wrote the price function');
    await page.keyboard.press('Enter');
    await page.locator('.timeline a[aria-current]', { hasText: 'Wrote the price function' }).waitFor();
    // Whatever number of messages the list has.
    await tabTo('Skip to the chosen message');
    await page.keyboard.press('Enter');
    await tabTo('Go back to here', 2);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Roll back exactly this' }).waitFor();
    await tabTo('Cancel');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Session s1' }).waitFor();
  });
});
