/** A page that looks again by itself, in a real browser, when nobody answers it any more, or nobody who knows who it is for. */
import type { Browser } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { createConsole } from '../../console/app.ts';
import { listenPages } from '../../local/listen.ts';
import { startBrowser } from '../support/browser.ts';
import { comeIn } from '../support/console-browser.ts';

const browser: Browser | undefined = await startBrowser();
afterAll(() => browser?.close());

test.skipIf(browser === undefined)(
  'says so, and goes on looking as long as there may be an answer',
  async () => {
    if (browser === undefined) throw new Error('no browser');
    let origin = '';
    const make = (token: string) =>
      createConsole({
        // The plan is under way for ever.
        ask: (name) =>
          name === 'rollback'
            ? Promise.withResolvers<never>().promise
            : Promise.reject(new Error('not here')),
        failureOf: (error) => ({ name: 'InternalError', message: String(error) }),
        viewer: { name: 'rita', isVerified: false },
        by: 'rita',
        token,
        origin: () => origin,
        patienceMs: 1,
      });
    const console = make('in');
    let endpoint = await listenPages(console);
    const { url, port } = endpoint;
    origin = url;
    await using person = await comeIn(browser, url);
    const { page } = person;
    const title = 'Planning the way back … · Walkback';
    await page.goto(`${url}/sessions/s1/plan?message=m1`);
    expect(await page.title()).toBe(title);

    await endpoint.close();
    await page.getByText('The console does not answer. This page goes on looking.').waitFor();
    endpoint = await listenPages(console, port);
    await page.getByText('The console does not answer').waitFor({ state: 'detached' });
    expect(await page.title()).toBe(title);

    await endpoint.close();
    endpoint = await listenPages(make('other'), port);
    await page.getByText('You are not signed in here any more, so this page does not look again.').waitFor();
    expect(await page.title()).toBe(title);
    await endpoint.close();
  },
);
