/** How pages look where names are long, and where the colours are those of the reader: a real browser, and the frame of all pages. */
import { html } from 'hono/html';
import type { Browser, Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { facts, list, shown } from '../../console/parts/markup.ts';
import { frame } from '../../console/parts/page.ts';
import { STYLE } from '../../console/parts/style.ts';
import { startBrowser } from '../support/browser.ts';

const browser: Browser | undefined = await startBrowser();
afterAll(() => browser?.close());

const LONG = 'W'.repeat(200);

const BODY = html`<p>${shown(LONG)}</p><p class="hint">As they are: ${shown(LONG)}</p>${list([LONG])}${facts([['Agent', shown(LONG)]])}
<section class="checkpoint"><h2>before ${shown(LONG)}</h2><details open><summary>Input of ${shown(LONG)}</summary></details></section>
<div class="split"><aside><ol class="timeline">
<li><a href="#one" aria-current="true"><span class="what">one</span><span class="meta">${shown(LONG)}</span></a></li>
<li><a href="#two"><span class="what">two</span></a></li></ol></aside>
<div class="lines"><div class="added"><ins>a <mark>word</mark></ins></div></div></div>`;

const shownAt = async (page: Page): Promise<void> => {
  const viewer = { name: LONG, isVerified: true };
  const text = String(await frame({ title: LONG, body: BODY, data: {} }, '/queue', viewer));
  await page.setContent(text.replace('</head>', `<style>${STYLE}</style></head>`));
};

describe.skipIf(browser === undefined)('the style of pages', () => {
  test.each([320, 375, 640, 1280])(
    'nothing long makes a page of %i pixels scroll sideways',
    async (width) => {
      await using context = await browser?.newContext({ viewport: { width, height: 800 } });
      const page = await context?.newPage();
      if (page === undefined) throw new Error('no browser');
      await shownAt(page);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    },
  );

  test('with forced colours one sees the place, the chosen message and the changed words', async () => {
    await using context = await browser?.newContext({ forcedColors: 'active' });
    const page = await context?.newPage();
    if (page === undefined) throw new Error('no browser');
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
