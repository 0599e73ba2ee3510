/** A person at the console in a real browser: how pages are opened, looked at, and kept as pictures. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { expect } from 'vitest';

/** Ignored by git, as all of node_modules. */
export const SCREENSHOTS = 'node_modules/.cache/screenshots';

export interface Person {
  page: Page;
  /** What the page asked for elsewhere: nothing should. */
  foreign: string[];
}

/** `origin`: of a console. A dialog would be somebody's script. */
export const comeIn = async (
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<Person & AsyncDisposable> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const foreign: string[] = [];
  page.on('dialog', (dialog) => foreign.push(`dialog ${dialog.message()}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(origin)) foreign.push(request.url());
  });
  await page.goto(`${origin}/enter?token=in`);
  return { page, foreign, [Symbol.asyncDispose]: () => context.close() };
};

export const keepPicture = async (page: Page, name: string): Promise<void> => {
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
};

/** Nothing that axe finds; and a picture. */
export const expectAccessible = async (page: Page, name: string): Promise<void> => {
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(
    violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' ')}`),
    name,
  ).toEqual([]);
  await keepPicture(page, name);
};

/** What a page has of a sandbox, a model or a tool is text: no element came of it. */
export const expectOnlyText = async ({ page, foreign }: Person): Promise<void> => {
  expect(await page.locator('main img, main script, main iframe, main b:not([data-n])').count()).toBe(0);
  expect(await page.title()).not.toBe('1');
  expect(foreign).toEqual([]);
};

/** A4, in pixels of CSS, less the margins. */
const PAPER = { width: 720, height: 1020 };

/** What no paper shows: what is scrolled to, what is opened, and what stands beside the page. */
const LOST_ON_PAPER = `[...document.querySelectorAll('main, main *')].filter((one) => {
  if (one.matches('aside, aside *, button, .button, .acts, .acts *, .scopes, .scopes *, .confirm, .confirm *, .unseen, option, datalist')) return false;
  const { overflow } = getComputedStyle(one);
  const isCut = one.scrollHeight > one.clientHeight + 1 || one.scrollWidth > one.clientWidth + 1;
  const isBeside = one.getBoundingClientRect().right > innerWidth + 1;
  return !one.checkVisibility({ contentVisibilityAuto: true }) || isBeside || (overflow !== 'visible' && isCut);
}).map((one) => one.outerHTML.slice(0, 120))`;

/** All of the page comes on paper. */
export const expectPrintable = async (page: Page, name: string): Promise<void> => {
  const before = page.viewportSize();
  await page.setViewportSize(PAPER);
  await page.emulateMedia({ media: 'print' });
  await keepPicture(page, `${name}-print`);
  expect(await page.evaluate(LOST_ON_PAPER), name).toEqual([]);
  await page.emulateMedia({ media: 'screen' });
  if (before !== null) await page.setViewportSize(before);
};
