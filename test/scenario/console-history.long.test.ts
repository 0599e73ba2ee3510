/** The browser's own buttons at the console: back and reload after a form was sent. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { comeIn } from '../support/console-browser.ts';
import { type ConsoleWorld, playStory, startConsoleWorld } from '../support/console-world.ts';

const browser = await openBrowser();

describe.skipIf(!browser.isThere)('back and reload', () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await startConsoleWorld();
    await playStory(world);
    for (const saga of ['scripted', 'plain', 'refused', 'deployed']) await world.asking(saga);
  });
  afterAll(async () => {
    await browser.close();
    await world.close();
  });

  /** A person in the queue, before one approval. */
  const atApproval = async (saga: string, javaScriptEnabled = true, isOneProcess = true) => {
    const { url } = await world.serve('rita', 60_000, isOneProcess);
    const rita = await comeIn(browser.running(), url, { javaScriptEnabled });
    const posts: string[] = [];
    rita.page.on('request', (request) => {
      if (request.method() === 'POST') posts.push(request.url());
    });
    await rita.page.goto(`${url}/queue?saga=${saga}`);
    const approve = () => rita.page.getByRole('button', { name: 'Approve exactly this' }).click();
    return { ...rita, posts, approve };
  };

  test.each([
    ['scripted', true],
    ['plain', false],
  ] as const)('show the answer again, and nothing is sent again: %s', async (saga, javaScriptEnabled) => {
    await using rita = await atApproval(saga, javaScriptEnabled);
    const { page, posts, approve } = rita;
    await approve();
    await page.getByText('Approved by rita').waitFor();
    await page.reload();
    await page.getByText('Approved by rita').waitFor();
    await page.getByRole('link', { name: 'Catalog' }).click();
    await page.goBack();
    await page.getByText('Approved by rita').waitFor();
    expect(posts).toHaveLength(1);
  });

  test('show a refusal again, and nothing is sent again', async () => {
    await using rita = await atApproval('refused');
    const { page, posts, approve } = rita;
    await world.invoke('operate-saga', { sagaId: 'refused', action: 'cancel', by: 'olga' });
    await approve();
    const refusal = page.getByRole('alert');
    await refusal.waitFor();
    const said = await refusal.textContent();
    await page.reload();
    expect(await refusal.textContent()).toBe(said);
    await page.getByRole('link', { name: 'Catalog' }).click();
    await page.goBack();
    expect(await refusal.textContent()).toBe(said);
    expect(posts).toHaveLength(1);
  });

  test('lead to the page of the form where the next request may be served by another process', async () => {
    await using rita = await atApproval('deployed', true, false);
    const { page, posts, approve } = rita;
    await approve();
    await page.getByText('Approved by rita').waitFor();
    await page.getByRole('link', { name: 'Catalog' }).click();
    await page.goBack();
    await page.getByRole('heading', { name: 'Queue' }).waitFor();
    await page.goBack();
    await page.goForward();
    await page.reload();
    await page.getByRole('heading', { name: 'Queue' }).waitFor();
    expect(posts).toHaveLength(1);
  });

  test('show a rollback again, without script, and whichever process is asked', async () => {
    const { url } = await world.serve('rita', 60_000, false);
    await using rita = await comeIn(browser.running(), url, { javaScriptEnabled: false });
    const { page } = rita;
    const posts: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') posts.push(request.url());
    });
    const confirm = () => page.getByRole('button', { name: 'Roll back exactly this' }).click();
    await page.goto(`${url}/sessions/${world.world.sessionId}/plan?message=msg-2`);
    // The files are others by the time that it is confirmed.
    world.write('api/another.txt', 'another\n');
    await confirm();
    await page.getByText('Something changed since you looked').waitFor();
    await page.reload();
    await page.getByText('Something changed since you looked').waitFor();
    await confirm();
    for (const again of [() => page.reload(), () => page.goto(`${url}/catalog`).then(() => page.goBack())]) {
      await page.getByText('All repositories were put back').waitFor();
      await again();
    }
    await page.getByText('All repositories were put back').waitFor();
    expect(posts).toHaveLength(2);
  });
});
