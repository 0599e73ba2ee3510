/** How pages look where names are long, and where the colours are those of the reader: a real browser, and the frame of all pages. */
import { html } from 'hono/html';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { badge, facts, list, type Markup, shown, table, time } from '../../console/parts/markup.ts';
import { frame } from '../../console/parts/page.ts';
import { STYLE } from '../../console/parts/style.ts';
import { openBrowser } from '../support/browser.ts';

const browser = await openBrowser();
afterAll(browser.close);

const LONG = 'W'.repeat(200);

const BODY = html`<p>${shown(LONG)}</p><p class="hint">As they are: ${shown(LONG)}</p>${list([LONG])}${facts([['Agent', shown(LONG)]])}
<section class="checkpoint"><h2>before ${shown(LONG)}</h2><details open><summary>Input of ${shown(LONG)}</summary></details></section>
<div class="split"><aside><ol class="timeline">
<li><a href="#one" aria-current="true"><span class="what">one</span><span class="meta">${shown(LONG)}</span></a></li>
<li><a href="#two"><span class="what">two</span></a></li></ol></aside>
<div class="lines"><div class="added"><ins>a <mark>word</mark></ins></div></div></div>`;

const shownAt = async (page: Page, body: Markup = BODY): Promise<void> => {
  const viewer = { name: LONG, isVerified: true };
  const text = String(await frame({ title: LONG, body, data: {} }, '/queue', viewer));
  await page.setContent(text.replace('</head>', `<style>${STYLE}</style></head>`));
};

describe.skipIf(!browser.isThere)('the style of pages', () => {
  test.each([320, 375, 640, 1280])(
    'nothing long makes a page of %i pixels scroll sideways',
    async (width) => {
      await using context = await browser.running().newContext({ viewport: { width, height: 800 } });
      const page = await context.newPage();
      await shownAt(page);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    },
  );

  test('long names in two columns leave the others in sight, beside them on one line', async () => {
    await using context = await browser.running().newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    const names = [LONG.slice(0, 64), 'agent '.repeat(20)];
    const row = html`${badge('active')} ${shown('a b '.repeat(20))}`;
    const columns = [
      ...names.map((name) => ({ title: 'Name', cell: () => shown(name) })),
      { title: 'Status', cell: () => row },
      { title: 'Repositories', isNumber: true as const, cell: () => 200 },
    ];
    await shownAt(page, table('Sessions', columns, [{}], ''));
    const hidden = `[...document.querySelectorAll('.scroll')].map((one) => one.scrollWidth - one.clientWidth)`;
    expect(await page.evaluate(hidden)).toEqual([0]);
    const tops = `['.badge', 'td:nth-child(3) .lengthy'].map((one) => document.querySelector(one).getBoundingClientRect().top)`;
    const [badgeAt = 0, textAt = 0] = await page.evaluate<number[]>(tops);
    expect(Math.abs(badgeAt - textAt)).toBeLessThan(6);
  });

  test('a table of twelve columns comes on paper as a whole', async () => {
    await using context = await browser.running().newContext({ viewport: { width: 720, height: 1020 } });
    const page = await context.newPage();
    await page.emulateMedia({ media: 'print' });
    const cells = [
      time('2026-11-27T18:06:00Z'),
      ...['forty-done.all.39', 'issue_refund', 'agent', 'customer:1234567'].map(shown),
      shown('re_3MmlLrLkdIwHu7ix0snN0B15'),
      badge('undone in part'),
      time('2026-11-27T18:29:00Z'),
      ...['rita@example.com', 'called the bank, and it was sent back'].map(shown),
    ];
    const amount = { title: 'Taken back', isNumber: true as const, cell: () => '1234567.89 EUR' };
    const columns = [...cells.map((cell) => ({ title: 'Column', cell: () => cell })), amount, amount];
    await shownAt(page, table('Effects', columns, [{}], ''));
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(720);
  });

  test('with forced colours one sees the place, the chosen message and the changed words', async () => {
    await using context = await browser.running().newContext({ forcedColors: 'active' });
    const page = await context.newPage();
    await shownAt(page);
    const looks = (selector: string, property: string): Promise<unknown> =>
      page.evaluate(
        `[...document.querySelectorAll('${selector}')].map((one) => getComputedStyle(one).getPropertyValue('${property}'))`,
      );
    const paper = await looks('html', 'background-color');
    expect(await looks('nav .brand', 'border-bottom-color')).toEqual(paper);
    expect(await looks('nav a[aria-current]', 'border-bottom-color')).not.toEqual(paper);
    expect(await looks('.timeline a', 'outline-style')).toEqual(['solid', 'none']);
    expect(await looks('.lines mark', 'text-decoration-line')).toEqual(['underline']);
  });
});
