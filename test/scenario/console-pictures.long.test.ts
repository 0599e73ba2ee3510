/**
 * Every page of the console at the width of a desk and of a phone, in light and dark: a picture of each for whoever
 * changes how they look, nothing that axe finds, and nothing cut without a sign.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import {
  comeIn,
  expectAccessible,
  expectOnlyText,
  keepPicture,
  SCREENSHOTS,
} from '../support/console-browser.ts';
import {
  type ConsoleWorld,
  failedRefund,
  playStory,
  refund,
  startConsoleWorld,
} from '../support/console-world.ts';
import { shell } from '../support/world.ts';

const browser = await openBrowser();

const DEVICES = {
  desk: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
} as const;

const PLAN = '/sessions/s1/plan?message=msg-2&scope=';

const PAGES: readonly (readonly [string, string])[] = [
  ['sessions', '/'],
  ['session', '/sessions/s1?message=msg-3'],
  ['session-of-calls', '/sessions/s1?message=msg-2'],
  ['plan-files', `${PLAN}files`],
  ['plan-all', '/sessions/s1/plan?message=msg-1&scope=all'],
  ['plan-message', `${PLAN}message`],
  ['plan-message-possible', '/sessions/s1/plan?message=msg-3&scope=message'],
  ['plan-effects', `${PLAN}effects`],
  ['bisect-form', '/sessions/s1/bisect?bad=msg-3'],
  ['compare-form', '/sessions/s1/compare'],
  ['compare', '/sessions/s1/compare?from=msg-1&to=msg-3'],
  ['queue', '/queue'],
  ['queue-by-amount', '/queue?order=amount'],
  ['sagas', '/sagas'],
  ['saga-done', '/sagas/done'],
  ['saga-failed', '/sagas/failed'],
  ['saga-asking', '/sagas/asking'],
  ['saga-undo', '/sagas/done/undo'],
  ['ledger', '/ledger'],
  ['ledger-of-saga', '/ledger?saga=failed'],
  ['ledger-effects', '/ledger?view=effects'],
  ['ledger-totals', '/ledger?view=totals'],
  ['catalog', '/catalog'],
  ['search', '/search'],
  ['search-found', '/search?q=refund'],
  ['search-words', '/search?q=price'],
  ['search-nothing', '/search?q=nowhere'],
  ['nowhere', '/nowhere'],
  ['saga-nowhere', '/sagas/nowhere'],
];

/** A box that scrolls sideways hides something. Lines of code may be longer than any screen. */
const CUT = `[...document.querySelectorAll('main *')].filter((one) => {
  const isCode = one.matches('.diff, .diff *, .what, .unseen, thead, thead *');
  return !isCode && one.checkVisibility() && getComputedStyle(one).overflowX !== 'visible' && one.scrollWidth > one.clientWidth + 1;
}).map((one) => one.outerHTML.slice(0, 160))`;

describe.skipIf(!browser.isThere)('pictures of the console', () => {
  let world: ConsoleWorld;
  let url: string;

  beforeAll(async () => {
    world = await startConsoleWorld();
    await playStory(world);
    await refund(world, 'done', 'msg-3');
    await failedRefund(world, 'failed', 'msg-3');
    for (const saga of ['asking', 'asking-too']) await world.asking(saga);
    // Work that nobody has captured.
    shell(world.world.root, `printf 'export const later = 1;\\n' > api/later.ts`);
    ({ url } = await world.serve('rita', 60_000));
  });
  afterAll(async () => {
    process.stdout.write(`pictures: ${SCREENSHOTS}\n`);
    await browser.close();
    await world.close();
  });

  test.each(
    Object.entries(DEVICES).flatMap(([device, options]) =>
      (['light', 'dark'] as const).map((colorScheme) => [device, colorScheme, options] as const),
    ),
  )('%s, %s', async (device, colorScheme, options) => {
    const { url: own } =
      device === 'desk' && colorScheme === 'light' ? { url } : await world.serve('rita', 60_000);
    await using person = await comeIn(browser.running(), own, { ...options, colorScheme });
    const { page } = person;
    for (const [name, path] of PAGES) {
      await page.goto(`${own}${path}`);
      const place = `${name}-${device}-${colorScheme}`;
      // What axe finds in the other three, and what it costs, would be the same in the fourth.
      await (device === 'phone' && colorScheme === 'dark' ? keepPicture : expectAccessible)(page, place);
      const { width } = options.viewport;
      expect(await page.evaluate('document.documentElement.scrollWidth'), place).toBeLessThanOrEqual(width);
      if (device === 'phone') expect(await page.evaluate(CUT), place).toEqual([]);
    }
    await expectOnlyText(person);
  });

  test.each(Object.entries(DEVICES))('what a search found, on a %s', async (device, options) => {
    const { url: own } = await world.serve('rita', 60_000);
    await using person = await comeIn(browser.running(), own, options);
    const { page } = person;
    await page.goto(`${own}/sessions/s1/bisect?bad=msg-3`);
    await page.getByLabel('Command').fill('ls; ! grep -s "Math.round" price.ts');
    await page.getByLabel('Repository').fill('api');
    await page.getByRole('button', { name: 'Find what broke it' }).click();
    await page.getByRole('heading', { level: 1, name: 'What broke it' }).waitFor({ timeout: 60_000 });
    await expectAccessible(page, `bisect-found-${device}`);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
      options.viewport.width,
    );
    if (device === 'phone') expect(await page.evaluate(CUT)).toEqual([]);
    await expectOnlyText(person);
  });
});
