/** Pages in a real browser when something fails: one that looks again by itself, and one that lacks a part. */
import { afterAll, expect, test } from 'vitest';
import { createConsole } from '../../console/app.ts';
import { listenPages } from '../../local/listen.ts';
import { openBrowser } from '../support/browser.ts';
import { comeIn, expectAccessible, expectOnlyText } from '../support/console-browser.ts';
import { NASTY, session } from '../support/console-in-process.ts';

const browser = await openBrowser();
afterAll(browser.close);

test.skipIf(!browser.isThere)('says so, and goes on looking as long as there may be an answer', async () => {
  let origin = '';
  const make = (token: string) =>
    createConsole({
      // The plan is under way for ever.
      ask: (name) =>
        name === 'rollback' ? Promise.withResolvers<never>().promise : Promise.reject(new Error('not here')),
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
  await using person = await comeIn(browser.running(), url);
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
});

test.skipIf(!browser.isThere)(
  'a part that could not be read says so on its page, and the rest works',
  async () => {
    let origin = '';
    let isDown = true;
    const plan = {
      status: 'PLANNED',
      checkpointId: 'cp-00000001-0123abcd',
      epoch: 1,
      undoCheckpointId: null,
      repositories: [{ path: 'api', written: 1, deleted: 0, action: 'restored', paths: [] }],
      discardedMessageIds: [],
      trimAfterMessageId: null,
      warnings: [],
    };
    const answers: Readonly<Record<string, unknown>> = {
      rollback: plan,
      timeline: { session: session('s1'), checkpoints: [], messages: [] },
      'list-sagas': { sagas: [] },
      diff: { repositories: [], warnings: [] },
    };
    class StorageUnavailable extends Error {
      override name = 'StorageUnavailable';
    }
    const console = createConsole({
      ask: (async (name: string) => {
        if (isDown && ['diff', 'list-sagas'].includes(name))
          throw new StorageUnavailable(`The store does not answer ${NASTY}.`);
        return answers[name];
      }) as Parameters<typeof createConsole>[0]['ask'],
      failureOf: (error) =>
        error instanceof Error ? { name: error.name, message: error.message } : { name: '', message: '' },
      viewer: { name: 'rita', isVerified: false },
      by: 'rita',
      token: 'in',
      origin: () => origin,
    });
    const endpoint = await listenPages(console);
    origin = endpoint.url;
    await using person = await comeIn(browser.running(), origin);
    const { page } = person;
    await page.goto(`${origin}/sessions/s1/plan?message=m1`);
    await page.getByText('The lines that change could not be read: The store does not answer').waitFor();
    await page.getByText('The paths above are what changes.').waitFor();
    expect(await page.getByRole('button', { name: 'Roll back exactly this' }).count()).toBe(1);
    // Not even the count in the navigation is silent.
    await page.locator('nav .badge', { hasText: '?' }).waitFor();
    await expectAccessible(page, 'part-that-failed');
    await expectOnlyText(person);
    isDown = false;
    await page.reload();
    await page.getByRole('button', { name: 'Roll back exactly this' }).waitFor();
    expect(await page.getByText('could not be read').count()).toBe(0);
    await endpoint.close();
  },
);
