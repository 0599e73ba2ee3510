/** What people do with sessions at the console: a real browser, the real functions, real repositories; with script and without. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Ask } from '../../console/context.ts';
import { exportSession } from '../../console/export/session-file.ts';
import { openBrowser } from '../support/browser.ts';
import {
  comeIn,
  expectAccessible,
  expectOnlyText,
  expectPrintable,
  keepPicture,
  type Person,
  SCREENSHOTS,
} from '../support/console-browser.ts';
import {
  type ConsoleWorld,
  HOSTILE,
  playStory,
  refund,
  startConsoleWorld,
} from '../support/console-world.ts';
import { shell } from '../support/world.ts';

const browser = await openBrowser();

describe.skipIf(!browser.isThere)('sessions at the console', () => {
  let world: ConsoleWorld;
  const file = (path: string): string => readFileSync(join(world.world.root, path), 'utf8');
  const prices = (): string => file('api/price.ts');

  beforeAll(async () => {
    world = await startConsoleWorld();
    await playStory(world);
  });
  afterAll(async () => {
    process.stdout.write(`pictures: ${SCREENSHOTS}\n`);
    await browser.close();
    await world.close();
  });

  /** A person whose every step takes longer than anybody waits, so that all progress is seen too. */
  const sitDown = async (isScripted: boolean): Promise<Person & AsyncDisposable> => {
    const { url } = await world.serve('rita', 1);
    return comeIn(browser.running(), url, { javaScriptEnabled: isScripted });
  };

  const messageLink = (page: Page, message: string) =>
    page.locator(`.timeline a[href*="message=${message}"]`).first();

  const choose = async (page: Page, message: string): Promise<void> => {
    await page.getByRole('link', { name: 'Sessions', exact: true }).click();
    await page.getByLabel('Find').fill('claude');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByRole('link', { name: 's1', exact: true }).click();
    await messageLink(page, message).click();
    await page.getByText('Outside the repositories').waitFor();
  };

  const confirm = async (page: Page, button: string, done: string): Promise<void> => {
    await page.getByRole('button', { name: button }).click();
    await page.getByRole('heading', { level: 1, name: done, exact: true }).waitFor();
  };

  describe.each([
    ['with script', true],
    ['without script', false],
  ] as const)('%s', (_, isScripted) => {
    const place = isScripted ? 'script' : 'plain';
    // axe is a script itself.
    const look = isScripted ? expectAccessible : keepPicture;

    test('a session is found, and the diff of a message read in two repositories', async () => {
      await using person = await sitDown(isScripted);
      const { page } = person;
      await choose(page, 'msg-3');
      for (const path of ['api', 'web']) {
        await page
          .getByRole('heading', { level: 4, name: new RegExp(`^${path} `) })
          .first()
          .waitFor();
      }
      // The words that changed, and nothing else of the line.
      expect(await page.locator('mark').allInnerTexts()).toEqual(expect.arrayContaining(['ceil', 'round']));
      expect(await page.locator('.lines i.k').count()).toBeGreaterThan(2);
      expect(await page.getByText('branch fix-rounding comes').count()).toBe(1);
      expect(await page.getByText(HOSTILE).count()).toBeGreaterThan(0);
      await expectOnlyText(person);
      // The link leads there again.
      await page.getByRole('link', { name: 'Link to this message' }).click();
      expect(await page.locator('.timeline a[aria-current]').innerText()).toContain('Rounded, not up');
      const copy = page.getByRole('button', { name: 'Copy link' });
      // The script of the page that comes makes it.
      if (isScripted) await copy.waitFor();
      expect(await copy.count()).toBe(isScripted ? 1 : 0);
      await look(page, `session-${place}`);
    });

    test('more lines around a change are a link away, as text and within bounds', async () => {
      const path = `api/long-${place}.txt`;
      const lines = Array.from({ length: 200 }, (_, at) => `line ${at} ${at === 95 ? HOSTILE : ''}`);
      world.write(path, `${lines.join('\n')}\n`);
      await world.checkpoint(`before-long-${place}`, { role: 'user', title: 'A long file', text: 'Long.' });
      world.write(path, `${lines.with(100, 'changed').join('\n')}\n`);
      await world.checkpoint(`long-${place}`, {
        role: 'assistant',
        title: 'Changed a line',
        text: 'Changed.',
      });
      await using person = await sitDown(isScripted);
      const { page } = person;
      const kept = page.locator('.lines .kept');
      await choose(page, `long-${place}`);
      expect(await kept.count()).toBe(6);
      await page.getByRole('link', { name: 'More lines around' }).click();
      await page.getByRole('heading', { level: 1, name: `Compare long-${place}.txt` }).waitFor();
      expect(await kept.count()).toBe(50);
      await expectOnlyText(person);
      expect(await page.getByText(HOSTILE).count()).toBeGreaterThan(0);
      await look(page, `wider-${place}`);
      await page.getByRole('link', { name: 'All lines' }).click();
      await page.locator('.scopes a[aria-current]', { hasText: 'All lines' }).waitFor();
      expect(await kept.count()).toBe(199);
      // A plan has the same, from what is there now.
      await choose(page, `before-long-${place}`);
      await page.getByRole('link', { name: 'Go back to here…' }).click();
      await page.getByRole('link', { name: 'More lines around' }).first().click();
      await page.getByRole('heading', { level: 1, name: `Compare long-${place}.txt` }).waitFor();
      expect(await page.locator('.lines .added').count()).toBe(1);
      await page.getByRole('link', { name: 'All files of this repository' }).click();
      await page.getByText('1 of 1 repository differs.').waitFor();
    });

    test('who wrote each line is a link away from a diff, on a phone too', async () => {
      await using person = await sitDown(isScripted);
      const { page } = person;
      await choose(page, 'msg-3');
      // By the keyboard alone.
      await page.getByRole('link', { name: 'Who wrote each line of price.ts' }).first().focus();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Who wrote price.ts' }).waitFor();
      const runs = page.locator('.run');
      expect(await runs.count()).toBeGreaterThan(1);
      const rounded = runs.filter({ hasText: 'Math.round' });
      expect(await rounded.innerText()).toContain(`Edit api/price.ts`);
      await expectOnlyText(person);
      await look(page, `blame-${place}`);
      await page.setViewportSize({ width: 390, height: 844 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
      expect(
        await page.evaluate(
          `[...document.querySelectorAll('.run *')].filter((one) => one.getBoundingClientRect().right > innerWidth + 1).length`,
        ),
      ).toBe(0);
      await look(page, `blame-${place}-phone`);
      await expectPrintable(page, `blame-${place}`);
      await page.setViewportSize({ width: 1280, height: 800 });
      // The margin leads to the change, and to the message.
      await rounded.getByRole('link').first().click();
      await page.getByRole('heading', { level: 1, name: 'Compare price.ts' }).waitFor();
      expect(await page.locator('mark').allInnerTexts()).toEqual(expect.arrayContaining(['ceil', 'round']));
      await page.getByRole('link', { name: 'Who wrote each line of it' }).click();
      await rounded.getByRole('link', { name: 'Rounded, not up' }).click();
      await page.locator('.timeline a[aria-current]', { hasText: 'Rounded, not up' }).waitFor();
    });

    test('a rollback is planned, done and undone', async () => {
      await using person = await sitDown(isScripted);
      const { page } = person;
      const before = [prices(), file('web/page.html')];
      await choose(page, 'msg-2');
      await page.getByRole('link', { name: 'Go back to here…' }).click();
      await page.getByRole('button', { name: 'Roll back exactly this' }).waitFor();
      // The lines that go back, and the button beside them, however long the page is.
      expect(await page.locator('mark').allInnerTexts()).toEqual(expect.arrayContaining(['ceil', 'round']));
      expect(await page.getByRole('button', { name: 'Roll back exactly this' }).boundingBox()).toMatchObject({
        y: expect.toSatisfy((y: number) => y < 800),
      });
      await look(page, `plan-${place}`);
      await expectOnlyText(person);
      await confirm(page, 'Roll back exactly this', 'Rolled back');
      expect(prices()).toContain('Math.ceil');
      expect(file('web/page.html')).toContain('>Pay<');
      // A reload does nothing twice.
      await page.reload();
      await page.getByRole('heading', { level: 1, name: 'Rolled back', exact: true }).waitFor();
      await keepPicture(page, `rolled-back-${place}`);
      await page.getByRole('link', { name: 'Undo this' }).click();
      await confirm(page, 'Roll back exactly this', 'Rolled back');
      expect([prices(), file('web/page.html')]).toEqual(before);
    });

    test('of two tabs that confirm in one moment, one acts, and the other shows what is so now', async () => {
      const [kept, later] = [`kept-${place}`, `later-${place}`];
      await world.checkpoint(kept, { role: 'user', title: kept, text: 'Kept.' });
      shell(world.world.root, `printf 'later\\n' > api/${later}.txt`);
      await world.checkpoint(later, { role: 'assistant', title: later, text: 'Later.' });
      await using person = await sitDown(isScripted);
      const tabs = [person.page, await person.page.context().newPage()];
      const [one = person.page, other = person.page] = tabs;
      await choose(one, kept);
      await one.getByRole('link', { name: 'Go back to here…' }).click();
      const button = (page: Page) => page.getByRole('button', { name: 'Roll back exactly this' });
      await button(one).waitFor();
      await other.goto(one.url());
      await button(other).waitFor();
      await Promise.all(tabs.map((page) => button(page).click()));
      const done = (page: Page) =>
        page.getByRole('heading', { level: 1, name: 'Rolled back', exact: true }).waitFor();
      const refused = (page: Page) => page.getByText('Nothing was done. This is the plan now.').waitFor();
      const ends = await Promise.all(
        tabs.map((page) =>
          Promise.race([done(page).then(() => 'done'), refused(page).then(() => 'refused')]),
        ),
      );
      expect(ends.toSorted()).toEqual(['done', 'refused']);
      const left = ends[0] === 'refused' ? one : other;
      expect(await button(left).count()).toBe(1);
      await look(left, `refused-${place}`);
      expect(shell(world.world.root, `ls api/${later}.txt 2>/dev/null || true`).trim()).toBe('');
    });

    test('a message that somebody leaves behind meanwhile: the page says what happened, and what to do', async () => {
      const [kept, gone] = [`staying-${place}`, `going-${place}`];
      await world.checkpoint(kept, { role: 'user', title: kept, text: 'Kept.' });
      shell(world.world.root, `printf 'going\\n' > api/${gone}.txt`);
      await world.checkpoint(gone, { role: 'assistant', title: gone, text: 'Going.' });
      await using person = await sitDown(isScripted);
      const { page } = person;
      await choose(page, gone);
      await page.getByRole('link', { name: 'Go back to here…' }).click();
      await page.getByRole('link', { name: 'Only this message' }).click();
      await page.getByRole('button', { name: 'Take back exactly this' }).waitFor();
      const { sessionId } = world.world;
      await world.invoke('rollback', { sessionId, messageId: kept, requestId: `leave-${place}`, by: 'omar' });
      await page.getByRole('button', { name: 'Take back exactly this' }).click();
      await page.getByText('a rollback left it behind').waitFor();
      await page.getByText('What to do: nothing of it is left to take back.').waitFor();
      await look(page, `left-behind-${place}`);
      await page.getByRole('link', { name: 'Back to the session' }).click();
      await page.getByRole('heading', { level: 1, name: 'Session s1' }).waitFor();
    });

    test('a rewind undoes an effect, and says what nothing takes back', async () => {
      const order = `order-${place}`;
      // Not in the file that the rollback of the other half looks at.
      world.write('api/order.ts', `export const order = '${order}';\n`);
      await world.checkpoint(`before-${place}`, {
        role: 'user',
        title: `Before ${place}`,
        text: 'Refund it.',
      });
      world.write('web/page.html', `<p>${order}</p>\n`);
      await world.checkpoint(`refund-${place}`, {
        role: 'assistant',
        title: `Refunded ${place}`,
        text: 'Done.',
      });
      await refund(world, order, `refund-${place}`);
      const standing = world.sagas.standing();

      await using person = await sitDown(isScripted);
      const { page } = person;
      await choose(page, `refund-${place}`);
      const outside = page
        .locator('section')
        .filter({ has: page.getByRole('heading', { name: 'Outside the repositories' }) });
      expect(await outside.getByText('issue_refund').count()).toBe(1);
      expect(await outside.locator('.number').allInnerTexts()).toContainEqual(
        expect.stringMatching(/^\d+\.\d\d EUR$/),
      );
      expect(await outside.getByText('cannot be undone').count()).toBe(1);
      await messageLink(page, `before-${place}`).click();
      await page.getByRole('link', { name: 'Go back to here…' }).click();
      await page.getByRole('link', { name: 'Files and effects' }).click();
      await page.getByRole('heading', { name: 'Point of no return' }).waitFor();
      await look(page, `rewind-${place}`);
      await page.getByLabel('Guidance for the way on').fill(`Ask first. ${HOSTILE}`);
      // Without the tick the browser does not send it.
      await page.getByRole('button', { name: 'Rewind exactly this' }).click();
      expect(world.sagas.standing()).toEqual(standing);
      await page.getByLabel('It may stay').check();
      await page.locator('[name="reason"]').fill(`The mail was read. ${HOSTILE}`);
      await confirm(page, 'Rewind exactly this', 'Rewound');
      await expectOnlyText(person);
      await keepPicture(page, `rewound-${place}`);
      expect(world.sagas.standing()).toMatchObject({
        refunds: standing.refunds - 1,
        tickets: standing.tickets - 1,
        mails: standing.mails,
      });
      expect(file('web/page.html')).not.toContain(order);
    });

    test('one message is taken back, points are compared, and a copy is opened', async () => {
      const [one, two] = [`one-${place}`, `two-${place}`];
      await world.checkpoint(`at-${place}`, { role: 'user', title: `At ${place}`, text: 'Both.' });
      shell(world.world.root, `printf 'one\\n' > api/${one}.txt`);
      await world.checkpoint(one, { role: 'assistant', title: one, text: 'One.' });
      shell(world.world.root, `printf 'two\\n' > web/${two}.txt`);
      await world.checkpoint(two, { role: 'assistant', title: two, text: 'Two.' });

      await using person = await sitDown(isScripted);
      const { page } = person;
      await choose(page, one);
      await page.getByRole('link', { name: 'Go back to here…' }).click();
      await page.getByRole('link', { name: 'Only this message' }).click();
      await page.getByRole('button', { name: 'Take back exactly this' }).waitFor();
      await look(page, `revert-${place}`);
      await confirm(page, 'Take back exactly this', 'Taken back');
      expect(shell(world.world.root, `ls api/${one}.txt web/${two}.txt 2>/dev/null || true`).trim()).toBe(
        `web/${two}.txt`,
      );

      await choose(page, one);
      await page.getByRole('link', { name: 'Compare any two points' }).click();
      await page.getByLabel('From').fill(`at-${place}`);
      await page.getByLabel('To', { exact: true }).fill(two);
      await page.getByRole('button', { name: 'Compare' }).click();
      await page.getByText('2 of 2 repositories differ.').waitFor();
      expect(await page.locator('.file summary').allInnerTexts()).toEqual([
        expect.stringContaining(`${one}.txt`),
        expect.stringContaining(`${two}.txt`),
      ]);
      await look(page, `compare-${place}`);

      await choose(page, two);
      await page.getByRole('button', { name: 'Open a review copy' }).click();
      await page.getByRole('heading', { level: 1, name: 'Review copy', exact: true }).waitFor();
      await look(page, `copy-${place}`);
      await page.getByRole('link', { name: 'What was changed in the copy since' }).click();
      await page.getByText(/\d of 2 repositories differ\./).waitFor();
    });
  });

  test('a message with much to say comes on paper as a whole', async () => {
    const lines = Array.from({ length: 120 }, (_, at) => `const line${at} = '${'wide '.repeat(40)}';`);
    world.write('api/long.ts', `${lines.join('\n')}\n`);
    const text = 'Every word of it was meant to be read.\n'.repeat(60);
    const tool = { name: 'Write', input: { file: 'api/long.ts', text: lines.join('\n').slice(0, 4000) } };
    await world.checkpoint('msg-paper', { role: 'assistant', title: 'Wrote a long file', text }, tool);
    await refund(world, 'order-paper', 'msg-paper');
    await using person = await sitDown(true);
    const { page } = person;
    await choose(page, 'msg-paper');
    await expectPrintable(page, 'session');
    await page.getByRole('link', { name: 'issue_refund' }).first().click();
    await page.getByRole('heading', { level: 1, name: /^Refund .* EUR, order order-paper$/ }).waitFor();
    await expectPrintable(page, 'saga');
    for (const place of ['Ledger', 'Catalog', 'Queue', 'Sagas']) {
      await page.getByRole('navigation').getByRole('link', { name: place, exact: true }).click();
      await expectPrintable(page, place);
    }
  });

  test('a session as a file opens without a server, with everything as text', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'walkback-export-'));
    try {
      await refund(world, 'order-file', 'msg-3');
      const write = async (maxBytes: number, to: string) => {
        const pieces: string[] = [];
        const told = await exportSession({
          ask: ((name: string, input: unknown) => world.invoke(name, input)) as Ask,
          isNotFound: (error) => String(error).includes('NotFound'),
          sessionId: world.world.sessionId,
          maxBytes,
          now: () => new Date(),
          write: async (piece) => {
            pieces.push(piece);
          },
        });
        await writeFile(join(directory, to), pieces.join(''));
        expect(told.bytes).toBe(Buffer.byteLength(pieces.join('')));
        return told;
      };
      const whole = await write(50_000_000, 'whole.html');
      expect(whole).toMatchObject({ cut: [] });
      const cut = await write(Math.floor(whole.bytes / 2), 'cut.html');
      expect(cut.cut.length).toBeGreaterThan(0);
      // What must be there goes beyond by a little: the frame, and what was cut.
      expect(cut.bytes).toBeLessThan(whole.bytes);

      await using context = await browser.running().newContext();
      const page = await context.newPage();
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      const url = pathToFileURL(join(directory, 'whole.html')).href;
      await page.goto(url);
      expect(asked).toEqual([url]);
      for (const text of ['Rounded, not up', 'issue_refund', HOSTILE]) {
        expect(await page.getByText(text).count(), text).toBeGreaterThan(0);
      }
      expect(await page.locator('main img, script').count()).toBe(0);
      expect(await page.title()).toBe('Session s1');
      // By keyboard, the first stop leads past the list of messages.
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      expect(await page.evaluate('document.activeElement.id')).toBe('content');
      // Its style works, so the policy lets it through and nothing else.
      expect(
        await page.evaluate('getComputedStyle(document.querySelector(".lines .added")).backgroundColor'),
      ).not.toBe('rgba(0, 0, 0, 0)');
      await page.locator('.timeline a', { hasText: 'Rounded, not up' }).click();
      await page.getByRole('link', { name: 'issue_refund' }).last().click();
      expect(page.url()).toMatch(/#saga-\d+$/);
      expect(asked).toEqual([url]);
      await expectAccessible(page, 'export');
      await expectPrintable(page, 'export');
      await page.goto(pathToFileURL(join(directory, 'cut.html')).href);
      await page.getByRole('heading', { name: 'Cut here' }).waitFor();
      // Links to what was cut lead to the words that say so.
      const nowhere = `[...document.querySelectorAll('a[href^="#"]')].map((one) => one.hash.slice(1)).filter((id) => document.getElementById(id) === null)`;
      expect(await page.evaluate(nowhere)).toEqual([]);
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
