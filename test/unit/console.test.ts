/** The console in process: who gets in, what text becomes, and what is said where something is not there or overdue. */
import { describe, expect, test } from 'vitest';
import { WalkbackError } from '../../core/shared/errors.ts';
import { made, NASTY, NO_SAGA, ORIGIN, session } from '../support/console-in-process.ts';
import { rollback } from '../support/console-plans.ts';

describe('a method that an address does not take', () => {
  const GET = 'GET, HEAD';
  test.each([
    ['/', 'POST', GET],
    ['/style.css', 'DELETE', GET],
    ['/enter', 'POST', GET],
    ['/sessions/s', 'PUT', GET],
    ['/sessions/s/plan', 'POST', GET],
    ['/sessions/s/compare', 'POST', GET],
    ['/sessions/s/revert', 'GET', 'POST'],
    ['/sessions/s/rollback', 'GET', 'POST'],
    ['/queue/answer', 'HEAD', 'POST'],
    ['/work/w', 'POST', GET],
    ['/ledger.csv', 'OPTIONS', GET],
  ])('%s, %s: it takes %s', async (path, method, takes) => {
    const { fetchPage, enter, calls } = made({});
    const { cookie } = await enter();
    const answer = await fetchPage(path, { method, headers: { cookie } });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, takes]);
    expect(calls).toEqual([]);
  });

  test('an address that is not there is no question of methods', async () => {
    const { fetchPage, enter } = made({});
    const { cookie } = await enter();
    const answer = await fetchPage('/nowhere', { method: 'POST', headers: { cookie } });
    expect([answer.status, answer.headers.get('allow')]).toEqual([404, null]);
  });
});

describe('who gets in', () => {
  test('the link works once, and gives a cookie that only this site and no script has', async () => {
    const { fetchPage } = made({});
    const first = await fetchPage('/enter?token=the-link');
    expect(first.status).toBe(302);
    expect(first.headers.get('set-cookie')).toMatch(/; HttpOnly; SameSite=Strict$/);
    expect((await fetchPage('/enter?token=the-link')).status).toBe(401);
  });

  test('the used link leads whoever came in by it to the pages, and nobody else', async () => {
    const { fetchPage, enter } = made({});
    const { cookie } = await enter();
    const again = await fetchPage('/enter?token=the-link', { headers: { cookie } });
    expect([again.status, again.headers.get('location')]).toEqual([302, '/']);
    expect(again.headers.get('set-cookie')).toBeNull();
    const guess = { cookie: 'walkback_console_4500=guess' };
    expect((await fetchPage('/enter?token=the-link', { headers: guess })).status).toBe(401);
  });

  test.each(['/enter', '/enter?token=', '/enter?token=guess'])('%s is refused', async (path) => {
    const { fetchPage } = made({});
    expect((await fetchPage(path)).status).toBe(401);
    expect((await fetchPage('/enter?token=the-link')).status).toBe(302);
  });

  test.each(['/', '/sessions/s', '/queue', '/sagas', '/ledger', '/ledger.csv', '/catalog', '/nowhere'])(
    '%s without the cookie asks nobody',
    async (path) => {
      const { fetchPage, calls } = made({});
      expect((await fetchPage(path)).status).toBe(401);
      expect((await fetchPage(path, { headers: { cookie: 'walkback_console_4500=guess' } })).status).toBe(
        401,
      );
      expect(calls).toEqual([]);
    },
  );

  test.each([
    { host: 'rebound.example:4500' } as Record<string, string>,
    { host: '127.0.0.1:4501' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:4501' },
  ])('%j is refused, also with the cookie', async (headers) => {
    const { fetchPage, enter, calls } = made({ 'list-catalog': () => ({ tools: [], definitions: [] }) });
    const { cookie } = await enter();
    expect((await fetchPage('/catalog', { headers: { cookie, ...headers } })).status).toBe(403);
    expect(calls).toEqual([]);
    expect((await fetchPage('/catalog', { headers: { cookie, origin: ORIGIN } })).status).toBe(200);
  });

  test('a form without the token of this console does nothing', async () => {
    const { fetchPage, enter, calls } = made({});
    const { cookie } = await enter();
    for (const form_token of ['', 'guess']) {
      const sent = { headers: { cookie, origin: ORIGIN }, form: { form_token, saga: 's', step: 't' } };
      for (const path of ['/queue/answer', '/queue/operate', '/sessions/s/rollback']) {
        expect((await fetchPage(path, sent)).status).toBe(403);
      }
    }
    expect(calls).toEqual([]);
  });

  test('every answer forbids inline script, frames and foreign loads, and is not kept', async () => {
    const { fetchPage, enter } = made({ 'list-catalog': () => ({ tools: [], definitions: [] }) });
    const { cookie } = await enter();
    const { headers } = await fetchPage('/catalog', { headers: { cookie } });
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(headers.get('x-frame-options')).toBe('DENY');
    // With `no-referrer` a browser sends our own forms with the origin `null`.
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('cache-control')).toBe('no-store');
    const sent: Record<string, string>[] = [{}, { cookie }, { cookie, origin: 'https://evil.example' }];
    for (const one of sent) {
      for (const path of ['/catalog', '/nowhere', '/enter?token=guess', '/work/guess']) {
        expect((await fetchPage(path, { headers: one })).headers.get('cache-control'), path).toBe('no-store');
      }
    }
  });
});

test('the catalog says which tools and templates are overdue for review', async () => {
  const one = {
    version: '1',
    effect: 'read',
    description: '',
    functionName: 'fn',
    endpoint: null,
    probe: false,
  };
  const [past, coming] = [
    { reviewBy: '2026-01-01', daysToReview: -1 },
    { reviewBy: '2026-03-01', daysToReview: 0 },
  ];
  const { fetchPage, enter } = made({
    'list-catalog': () => ({
      tools: [
        { ...one, name: 'late_tool', compensator: null, ...past },
        { ...one, name: 'good_tool', compensator: null, ...coming },
        { ...one, name: 'plain_tool', compensator: null },
      ],
      definitions: [
        { name: 'late', version: '1', description: '', steps: [], ...past },
        { name: 'good', version: '1', description: '', steps: [], ...coming },
      ],
    }),
  });
  const { cookie } = await enter();
  const page = await (await fetchPage('/catalog', { headers: { cookie } })).text();
  const rows = page.split('<tr').filter((row) => /(tool|late|good)/.test(row));
  const rowOf = (name: string) => rows.find((row) => row.includes(`>${name}<`)) ?? '';
  for (const name of ['late_tool', 'late']) expect(rowOf(name), name).toMatch(/2026-01-01.*overdue/s);
  for (const name of ['good_tool', 'good']) {
    expect(rowOf(name), name).toContain('2026-03-01');
    expect(rowOf(name), name).not.toContain('overdue');
  }
  expect(rowOf('plain_tool')).toContain('plain_tool');
  expect(rowOf('plain_tool')).not.toContain('overdue');
});

describe('text from outside', () => {
  test('is text on every page, and cannot turn its direction', async () => {
    const { fetchPage, enter } = made({
      'list-sessions': () => ({ sessions: [session(NASTY)] }),
      rollback: () => rollback(),
      'list-sagas': () => ({
        sagas: [
          {
            sagaId: NASTY,
            status: 'COMPLETED',
            definition: NASTY,
            started: 1,
            steps: 1,
            failure: NASTY,
            requestedBy: NASTY,
            createdAt: NASTY,
            updatedAt: NASTY,
          },
        ],
      }),
    });
    const { cookie } = await enter();
    for (const path of ['/', '/sessions/s/plan?message=m', '/sagas']) {
      const text = await (await fetchPage(path, { headers: { cookie } })).text();
      expect(text, path).not.toContain('<img');
      expect(text, path).not.toContain('\u202e');
      expect(text, path).not.toContain('\u0007');
      expect(text, path).toContain('&lt;img src=x onerror=alert(1)&gt;');
    }
  });

  test('in an address stays in its place', async () => {
    const { fetchPage, enter } = made({
      'list-sessions': () => ({ sessions: [session('../queue?x="y')] }),
      ...NO_SAGA,
    });
    const { cookie } = await enter();
    const text = await (await fetchPage('/', { headers: { cookie } })).text();
    expect(text).toContain('href="/sessions/..%2Fqueue%3Fx%3D%22y"');
  });
});

describe('errors and twins', () => {
  test.each([
    ['SagaNotFound', 404, 'the page Sagas lists them'],
    ['AnswerConflict', 409, 'the queue shows what is asked now'],
    ['InvalidInput', 400, 'go back, and correct what the message names'],
    ['CompensationFailed', 502, 'the queue has the forms'],
    ['StorageUnavailable', 503, 'call again a little later'],
  ] as const)('%s is status %i, with its name, and what to do on pages: %s', async (name, status, advice) => {
    const { fetchPage, enter } = made({
      'describe-saga': () => {
        throw new WalkbackError(name, NASTY);
      },
    });
    const { cookie } = await enter();
    const answer = await fetchPage('/sagas/s', { headers: { cookie } });
    expect(answer.status).toBe(status);
    const text = await answer.text();
    expect(text).toContain(name);
    expect(text).toContain(advice);
    expect(text).not.toMatch(/--help|walkback saga/);
    expect(text).not.toContain('<img');
  });

  test('every page has a JSON twin of what the functions answered', async () => {
    const sessions = { sessions: [session('s')] };
    const saga = { sagaId: 'open', status: 'RUNNING', sessionId: 's' };
    const { fetchPage, enter } = made({
      'list-sessions': () => sessions,
      'list-sagas': ({ status }: { status: string }) => ({ sagas: status === 'RUNNING' ? [saga] : [] }),
    });
    const twin = { ...sessions, openSagas: [saga], found: 1, hasMore: false };
    const { cookie } = await enter();
    expect(await (await fetchPage('/?format=json', { headers: { cookie } })).json()).toEqual(twin);
    const accept = { cookie, accept: 'application/json' };
    expect(await (await fetchPage('/', { headers: accept })).json()).toEqual(twin);
    expect((await fetchPage('/nowhere', { headers: accept })).status).toBe(404);
  });

  test.each([
    ['application/json, text/plain, */*', 'application/json'],
    ['Application/JSON', 'application/json'],
    ['text/html;q=0.4, application/json', 'application/json'],
    ['application/json;q=0.5, text/html', 'text/html; charset=UTF-8'],
    ['application/json;q=0, */*', 'text/html; charset=UTF-8'],
    ['application/json-seq', 'text/html; charset=UTF-8'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html; charset=UTF-8'],
    ['*/*', 'text/html; charset=UTF-8'],
  ])('of a page and its twin the one that is asked for first is sent: %s', async (accept, type) => {
    const { fetchPage, enter } = made({ 'list-sessions': () => ({ sessions: [] }), ...NO_SAGA });
    const { cookie } = await enter();
    const { headers } = await fetchPage('/', { headers: { cookie, accept } });
    expect(headers.get('content-type')).toBe(type);
  });
});
