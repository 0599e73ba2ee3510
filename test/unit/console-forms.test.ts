/** Forms that no page of the console sends: each is refused for what is wrong with it, and nothing is asked. */
import { expect, test } from 'vitest';
import { createConsole } from '../../console/app.ts';
import type { Ask } from '../../console/context.ts';
import { listenPages } from '../../local/listen.ts';
import { made, ORIGIN } from '../support/console-in-process.ts';

const FORM = 'application/x-www-form-urlencoded';

test.each([
  ['no body', 403, {}],
  ['no token', 403, { body: 'saga=s', type: FORM }],
  ['a multipart form without a boundary', 400, { body: 'saga=s', type: 'multipart/form-data' }],
  ['a body over the limit', 413, { body: `a=${'x'.repeat(70_000)}`, type: FORM }],
])('%s is answered %i', async (_what, status, { body, type }: { body?: string; type?: string }) => {
  const { send, calls } = await entered();
  const answer = await send(body, type);
  expect(answer.status).toBe(status);
  expect(await answer.text()).not.toMatch(/Exception|TypeError|Content-Type/);
  expect(calls).toEqual([]);
});

const entered = async () => {
  const { enter, fetchPage, calls } = made({});
  const { cookie } = await enter();
  const send = (body: string | undefined, type: string | undefined) =>
    fetchPage('/queue/answer', {
      method: 'POST',
      headers: { cookie, origin: ORIGIN, ...(type === undefined ? {} : { 'content-type': type }) },
      ...(body === undefined ? {} : { body }),
    });
  return { send, calls };
};

/** A console whose functions fail, as a server answers for it. */
const served = async (ask: Ask) => {
  const place = { origin: '' };
  const app = createConsole({
    ask,
    failureOf: (error) => ({ name: error instanceof Error ? error.name : '', message: String(error) }),
    viewer: { name: 'rita', isVerified: false },
    by: 'rita',
    token: 'the-link',
    origin: () => place.origin,
  });
  const endpoint = await listenPages(app);
  place.origin = endpoint.url;
  const came = await fetch(`${endpoint.url}/enter?token=the-link`, { redirect: 'manual' });
  const [cookie = ''] = (came.headers.get('set-cookie') ?? '').split(';');
  const headers = { cookie, origin: endpoint.url };
  return { url: endpoint.url, headers, [Symbol.asyncDispose]: () => endpoint.close() };
};

const failing = (async () => {
  throw new RangeError('the index of the secret is -1');
}) as Ask;

test.each([
  ['saga=s', 403],
  [`saga=${'x'.repeat(70_000)}`, 413],
])('a form in pieces, without a length, is read as any other: %#', async (body, status) => {
  await using console = await served(failing);
  const answer = await fetch(`${console.url}/queue/answer`, {
    method: 'POST',
    headers: { ...console.headers, 'content-type': FORM },
    body: new Blob([body]).stream(),
    duplex: 'half',
  });
  await answer.body?.cancel();
  expect(answer.status).toBe(status);
});

test('a mistake inside is told without its name and its text', async () => {
  await using console = await served(failing);
  const page = await fetch(`${console.url}/catalog`, { headers: console.headers });
  const text = await page.text();
  expect(page.status).toBe(502);
  expect(text).toContain('InternalError');
  expect(text).not.toMatch(/RangeError|secret/);
});
