/** People at the console: a real browser, the real functions, real repositories. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createConsole } from '../../console/app.ts';
import type { Ask } from '../../console/context.ts';
import type { LedgerAnswer } from '../../contract/saga-answers.ts';
import { listenPages } from '../../local/listen.ts';
import { startBrowser } from '../support/browser.ts';
import { FunctionFailure } from '../support/cloud.ts';
import { addOrder, type SagaCloud, startSagaCloud } from '../support/saga-cloud.ts';
import { openWorld, type World } from '../support/world.ts';

const browser: Browser | undefined = await startBrowser();
const running = (): Browser => {
  if (browser === undefined) throw new Error('no browser');
  return browser;
};
const SHOTS = 'node_modules/.cache/screenshots';
const HOSTILE = "<img src=x onerror='document.title=1'>.txt";
const MAIL = { to: 'ada@example.com', refund: 're_1', ticket: 't_1', entry: '<b>je_1</b>' };
const PHONE = { width: 390, height: 844 };

describe.skipIf(browser === undefined)('the console in a browser', () => {
  let sagas: SagaCloud;
  let world: World;
  let url: string;
  let page: Page;
  const closing = new AsyncDisposableStack();

  const serve = async (by: string): Promise<string> => {
    let origin = '';
    const app = createConsole({
      ask: ((name: string, input: unknown) => sagas.cloud.invoke(name, input)) as Ask,
      failureOf: (error) =>
        error instanceof FunctionFailure
          ? { name: error.errorType, message: error.message }
          : { name: 'InternalError', message: String(error) },
      viewer: { name: by, isVerified: false },
      by,
      token: 'in',
      origin: () => origin,
    });
    const endpoint = await listenPages(app);
    closing.defer(() => endpoint.close());
    origin = endpoint.url;
    return origin;
  };

  const open = async (origin: string, viewport = { width: 1200, height: 800 }): Promise<Page> => {
    const context = await running().newContext({ viewport });
    closing.defer(() => context.close());
    const opened = await context.newPage();
    opened.on('dialog', (dialog) => {
      throw new Error(`a page asked: ${dialog.message()}`);
    });
    await opened.goto(`${origin}/enter?token=in`);
    return opened;
  };

  const look = async (at: Page, name: string): Promise<void> => {
    const { violations } = await new AxeBuilder({ page: at }).analyze();
    expect(
      violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`),
      name,
    ).toEqual([]);
    mkdirSync(SHOTS, { recursive: true });
    await at.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true });
  };

  const asking = async (sagaId: string): Promise<void> => {
    addOrder(sagas.server, sagaId);
    await sagas.cloud.invoke('start-saga', {
      sagaId,
      interactive: { onIdle: 'unwind' },
      requestedBy: 'agent-7',
    });
    const mail = { sagaId, stepId: 'mail', tool: 'send_customer_confirmation', arguments: MAIL };
    await sagas.cloud.invoke('submit-step', mail);
  };

  beforeAll(async () => {
    sagas = await startSagaCloud();
    world = await openWorld(sagas.cloud);
    await world.checkpoint('t-1', 'msg-1');
    for (const path of ['api', 'web']) writeFileSync(join(world.root, path, 'a.txt'), 'changed\n');
    writeFileSync(join(world.root, 'api', HOSTILE), 'x\n');
    await world.checkpoint('t-2', 'msg-2');
    await asking('phone');
    await asking('twice');
    url = await serve('rita');
    page = await open(url);
  });
  afterAll(async () => {
    await closing.disposeAsync();
    await browser?.close();
    await sagas.close();
  });

  test('a rollback is planned, done and undone', async () => {
    const before = readFileSync(join(world.root, 'api/a.txt'), 'utf8');
    await page.getByRole('link', { name: 's1' }).click();
    await page.getByRole('link', { name: 'msg-1' }).click();
    await look(page, 'session');
    await page.getByRole('link', { name: 'Plan a rollback to this message' }).click();
    await page.locator('summary').first().click();
    expect(await page.getByText(HOSTILE).count()).toBeGreaterThan(0);
    expect(await page.locator('img').count()).toBe(0);
    await look(page, 'plan');
    await page.getByRole('button', { name: 'Roll back exactly this' }).click();
    await page.getByRole('status').waitFor();
    expect(readFileSync(join(world.root, 'api/a.txt'), 'utf8')).toBe('one\n');
    await look(page, 'rolled-back');
    await page.getByRole('link', { name: 'Undo this rollback' }).click();
    await page.getByRole('button', { name: 'Roll back exactly this' }).click();
    await page.getByRole('status').waitFor();
    expect(readFileSync(join(world.root, 'api/a.txt'), 'utf8')).toBe(before);
    expect(await page.title()).not.toBe('1');
  });

  test('an approval on a phone, with the keyboard', async () => {
    const phone = await open(await serve('rita'), PHONE);
    await phone.getByRole('link', { name: 'Queue' }).click();
    const card = phone.locator('section', { hasText: 'phone' }).first();
    expect(await card.getByText(MAIL.entry).count()).toBe(1);
    const { width } = (await card.getByRole('button', { name: 'Approve exactly this' }).boundingBox()) ?? {};
    expect(width).toBeLessThanOrEqual(PHONE.width);
    expect(await phone.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width);
    await look(phone, 'queue-phone');
    await card.getByRole('button', { name: 'Approve exactly this' }).focus();
    await phone.keyboard.press('Enter');

    await phone.getByText('Approved by').waitFor();
    expect(await sagas.observe('phone', 5)).toMatchObject({ committed: [{ step: 'mail' }] });
  });

  test('a second approver is told who was first', async () => {
    const other = await open(await serve('omar'));
    await Promise.all([page.goto(`${url}/queue`), other.goto(`${new URL(other.url()).origin}/queue`)]);
    for (const [at, who] of [
      [page, 'rita'],
      [other, 'rita'],
    ] as const) {
      const card = at.locator('section', { hasText: 'twice' }).first();
      await card.getByRole('button', { name: 'Approve exactly this' }).click();
      await at.getByText('Approved by').waitFor();
      expect(await at.getByRole('status').innerText()).toContain(`Approved by ${who}`);
    }
  });

  test('the ledger is found, filtered, taken as CSV and verified', async () => {
    await page.goto(`${url}/ledger`);
    await page.getByLabel('Saga').fill('phone');
    await page.getByRole('button', { name: 'Show' }).click();
    const rows = (await sagas.cloud.invoke('query-ledger', { sagaId: 'phone' })) as unknown as LedgerAnswer;
    expect(await page.locator('tbody tr').count()).toBe(rows.entries?.length);
    const csv = await page
      .evaluate(async () => (await fetch('/ledger.csv?saga=phone')).text())
      .catch(() => '');
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'CSV' }).click();
    const path = await (await download).path();
    expect(readFileSync(path, 'utf8').split('\n').length).toBeGreaterThan(rows.entries?.length ?? 0);
    // Pages have no script, and may not fetch.
    expect(csv).toBe('');
    await page.getByRole('link', { name: 'Verify this saga' }).click();
    await page.getByText('As it was written.').waitFor();
    await look(page, 'ledger');
  });

  test.each(['/', '/queue', '/sagas', '/sagas/phone', '/ledger', '/catalog', '/sessions/s1', '/nowhere'])(
    '%s passes axe, in light and dark',
    async (path) => {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.goto(`${url}${path}`);
        await look(page, `page${path.replaceAll('/', '-')}-${colorScheme}`);
      }
    },
  );

  test('a session is reached and left by the keyboard alone', async () => {
    await page.goto(url);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement?.textContent')).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    for (let presses = 0; presses < 10; presses += 1) {
      await page.keyboard.press('Tab');
      if ((await page.evaluate('document.activeElement?.textContent')) === 's1') break;
    }
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Session s1' }).waitFor();
  });
});
