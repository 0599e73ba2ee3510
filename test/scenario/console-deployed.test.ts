/** The console behind the HTTP API: people sign in at the issuer of the embedded cloud, over real HTTP. */
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import {
  type BrowserPerson,
  createBrowserPerson,
  fillIn,
  goToIssuer,
  hiddenIn,
  locationOf,
  signInWithBrowser,
} from '../support/browser-person.ts';
import { type SagaCloud, startSagaCloud } from '../support/saga-cloud.ts';
import { inTurn } from '../support/sampled-test.ts';

const test = inTurn('console-deployed');

const SESSION = '__Host-walkback';
const BEGUN = '__Host-walkback-sign-in';

let sagas: SagaCloud;
let at: string;

beforeAll(async () => {
  sagas = await startSagaCloud();
  at = sagas.cloud.endpoints.api;
});
afterAll(() => sagas.close());

const atIssuer = (person: BrowserPerson) => goToIssuer(sagas.cloud, person);

const signedIn = async (path = '/', roles = 'reviewer operator', name = 'rita@example.com') => {
  const came = await signInWithBrowser(sagas.cloud, { path, roles, name });
  expect(came.status).toBe(303);
  return came;
};

describe('signing in', () => {
  test('leads back to the page that was asked for, and the page shows who it is', async () => {
    const { person, location } = await signedIn('/sagas?status=AWAITING');
    expect(location).toBe('/sagas?status=AWAITING');
    const page = await person.get(at + location);
    expect(page.status).toBe(200);
    expect(page.text).toContain('rita@example.com');
    expect(page.text).not.toContain('(a claim)');
    const nowhere = await person.get(`${at}/nowhere`);
    expect([nowhere.status, nowhere.text]).toEqual([404, expect.stringContaining('There is no such page.')]);
  });

  test('gives a cookie that no script, no other site and no other host has, and no page has a token', async () => {
    const { person } = await signedIn();
    const cookie = person.setCookies.find((text) => text.startsWith(`${SESSION}=`)) ?? '';
    for (const part of ['HttpOnly', 'Secure', 'Path=/', 'SameSite=Lax'])
      expect(cookie).toContain(`; ${part}`);
    expect(cookie).not.toContain('Domain');
    const value = person.cookies.get(SESSION) ?? '';
    // Sealed: what begins like the payload of a token would be readable.
    expect(value).not.toContain('eyJhdXRoX3RpbWUi');
    const pages = await Promise.all(
      ['/', '/queue', '/sagas', '/ledger', '/catalog'].map((path) => person.get(at + path)),
    );
    for (const { text } of pages) expect(text).not.toMatch(/eyJ[\w-]{10,}\.eyJ/);
  });

  test('the one who approves is in the ledger with the proof', async () => {
    await sagas.askForMail('page-approve');
    const { person } = await signedIn('/queue', 'reviewer', 'omar@example.com');
    const queue = await person.get(`${at}/queue`);
    const [, form = ''] = /<form[^>]*action="\/queue\/answer">(.*?)<\/form>/s.exec(queue.text) ?? [];
    const answered = await person.post(`${at}/queue/answer`, hiddenIn(form));
    expect([answered.status, answered.text]).toEqual([200, expect.stringContaining('omar@example.com')]);
    const { entries } = (await sagas.cloud.invoke('query-ledger', { sagaId: 'page-approve' })) as unknown as {
      entries: { status: string; detail: string }[];
    };
    expect(entries.find(({ status }) => status === 'approved')?.detail).toContain('"sub":"omar@example.com"');
  });

  test('signing out needs the form of the page, and ends it for every copy of the cookie', async () => {
    const { person } = await signedIn();
    expect((await person.post(`${at}/auth/sign-out`, { form_token: 'guess' })).status).toBe(403);
    const page = await person.get(`${at}/`);
    const [, form = ''] = /<form[^>]*action="\/auth\/sign-out">(.*?)<\/form>/s.exec(page.text) ?? [];
    const stolen = person.cookies.get(SESSION) ?? '';
    const thief = createBrowserPerson();
    thief.cookies.set(SESSION, stolen);
    const theirs = await thief.get(`${at}/queue`);
    expect(theirs.status).toBe(200);
    const [, form_token = ''] = /name="form_token" value="([^"]+)"/.exec(theirs.text) ?? [];
    // Nobody is told so who is signed in.
    expect(locationOf(await person.get(`${at}/auth/signed-out`))).toBe('/');
    const out = await person.post(`${at}/auth/sign-out`, hiddenIn(form));
    expect([out.status, locationOf(out)]).toEqual([303, '/auth/signed-out']);
    expect((await person.get(at + locationOf(out))).text).toContain('signed out');
    expect((await person.get(`${at}/`)).status).toBe(302);
    // A copy of the cookie is worth nothing from then on, in this instance and in another one.
    const isOut = async () => {
      expect((await thief.get(`${at}/queue`)).status).toBe(302);
      const sent = await thief.post(`${at}/queue/operate`, { form_token, saga: 's', action: 'cancel' });
      expect(sent.status).toBe(401);
      const twin = await fetch(`${at}/queue`, {
        headers: { accept: 'application/json', cookie: `${SESSION}=${stolen}` },
        redirect: 'manual',
      });
      expect(twin.status).toBe(401);
    };
    await isOut();
    sagas.cloud.reconfigure({});
    await isOut();
    // Signing in again works, and other people stay.
    expect((await signedIn()).status).toBe(303);
  });
});

describe('who is not signed in', () => {
  test.each([
    '/',
    '/sessions/s',
    '/sessions/s/plan',
    '/queue',
    '/sagas',
    '/sagas/s',
    '/ledger',
    '/ledger.csv',
    '/catalog',
    '/nowhere',
  ])('%s shows nothing, and leads to the sign-in', async (path) => {
    const stranger = createBrowserPerson();
    const page = await stranger.get(at + path);
    expect([page.status, page.text]).toEqual([302, '']);
    expect(locationOf(page)).toBe(`/auth/sign-in?to=${encodeURIComponent(path)}`);
    const twin = await fetch(at + path, { headers: { accept: 'application/json' }, redirect: 'manual' });
    expect(twin.status).toBe(401);
  });

  test('no form does anything', async () => {
    for (const path of ['/queue/answer', '/queue/operate', '/sessions/s/rollback']) {
      const sent = await createBrowserPerson().post(at + path, { saga: 's' });
      // A person reads it, and comes back to the page of the form.
      const back = encodeURIComponent(path.replace(/\/[^/]+$/, ''));
      expect([sent.status, sent.text]).toEqual([401, expect.stringContaining('Nothing was done')]);
      expect(sent.text).toContain(`href="/auth/sign-in?again=yes&amp;to=${back}"`);
    }
  });

  test('who has no role is told so on every page', async () => {
    const { person } = await signedIn('/', '', 'nora@example.com');
    for (const path of ['/', '/queue', '/sagas', '/ledger', '/catalog']) {
      const page = await person.get(at + path);
      expect([page.status, page.text]).toEqual([403, expect.stringContaining('RoleMissing')]);
    }
  });

  test('a role that a page does not ask for is refused by the function, whatever the page offers', async () => {
    await sagas.askForMail('page-role');
    const { person } = await signedIn('/queue', 'operator', 'otto@example.com');
    const queue = await person.get(`${at}/queue`);
    const [, form = ''] = /<form[^>]*action="\/queue\/answer">(.*?)<\/form>/s.exec(queue.text) ?? [];
    const answered = await person.post(`${at}/queue/answer`, hiddenIn(form));
    expect([answered.status, answered.text]).toEqual([403, expect.stringContaining('RoleMissing')]);
    await sagas.cloud.invoke('operate-saga', { sagaId: 'page-role', action: 'cancel', by: 'ops' });
  });
});

describe('what was left standing', () => {
  afterEach(() => {
    sagas.faults.closedPeriod = () => false;
    sagas.faults.refuseMail = false;
  });

  const formIn = (text: string): Record<string, string> => {
    const forms = [...text.matchAll(/<form[^>]*action="\/queue\/operate">(.*?)<\/form>/gs)];
    return hiddenIn(forms[0]?.[1] ?? '');
  };

  test('is recorded as undone by hand on the page of its saga: by an operator, with evidence, from the page', async () => {
    sagas.faults.closedPeriod = (_, externalId) => externalId.endsWith(':undo');
    sagas.faults.refuseMail = true;
    await sagas.start('stood');
    const { notCompensated } = await sagas.observe('stood');
    expect(notCompensated.length).toBeGreaterThan(0);
    for (const { step: stepId } of notCompensated) {
      const skip = { action: 'skip', stepId, by: 'olga', evidence: 'the period is closed' };
      await sagas.cloud.invoke('operate-saga', { sagaId: 'stood', ...skip });
    }
    expect(await sagas.observe('stood')).toMatchObject({ status: 'COMPENSATED' });
    const path = '/sagas/stood';
    const evidence = 'Booked back by hand, journal 4711';

    const { person: reviewer } = await signedIn(path, 'reviewer', 'rita@example.com');
    const theirs = formIn((await reviewer.get(at + path)).text);
    const refused = await reviewer.post(`${at}/queue/operate`, { ...theirs, evidence });
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('RoleMissing')]);

    const { person } = await signedIn(path, 'operator', 'otto@example.com');
    const page = await person.get(at + path);
    expect(page.text).toContain('Left standing');
    const form = formIn(page.text);
    expect(form).toMatchObject({ saga: 'stood', step: notCompensated[0]?.step, action: 'resolve' });
    const without = await person.post(`${at}/queue/operate`, { ...form, evidence: ' ' });
    expect([without.status, without.text]).toEqual([400, expect.stringContaining('evidence')]);
    const forged = { ...form, form_token: 'guess', evidence };
    expect((await person.post(`${at}/queue/operate`, forged)).status).toBe(403);
    expect((await sagas.observe('stood', 0)).notCompensated).toHaveLength(notCompensated.length);

    const sent = await person.post(`${at}/queue/operate`, { ...form, evidence });
    expect([sent.status, locationOf(sent)]).toEqual([303, path]);
    const seen = await sagas.observe('stood', 0);
    expect(seen.compensated.find(({ step }) => step === form['step'])).toMatchObject({ byHand: evidence });
    expect(seen.notCompensated).toHaveLength(notCompensated.length - 1);
    const after = await person.get(at + path);
    expect(after.text).toContain(evidence);
    expect(formIn(after.text)['step']).not.toBe(form['step']);
    const { rows } = await sagas.rows('stood');
    expect(rows.at(-1)).toMatchObject({
      direction: 'operator',
      status: 'resolved',
      actor: 'otto@example.com',
    });
  });
});

describe('attacks', () => {
  test('CSRF: a form without the token of this person does nothing, nor does one of another origin', async () => {
    const { person } = await signedIn();
    const other = await signedIn('/queue', 'reviewer operator', 'omar@example.com');
    const [, theirs = ''] =
      /name="form_token" value="([^"]+)"/.exec((await other.person.get(`${at}/`)).text) ?? [];
    expect(theirs).not.toBe('');
    for (const form_token of ['', 'guess', theirs]) {
      expect((await person.post(`${at}/queue/operate`, { form_token, saga: 's' })).status).toBe(403);
    }
    const [, own = ''] = /name="form_token" value="([^"]+)"/.exec((await person.get(`${at}/`)).text) ?? [];
    const evil = { origin: 'https://evil.example' };
    expect((await person.post(`${at}/queue/operate`, { form_token: own, saga: 's' }, evil)).status).toBe(403);
  });

  test('login CSRF: an answer of the issuer works only in the browser that began, once, and unchanged', async () => {
    const victim = createBrowserPerson();
    const attacker = createBrowserPerson();
    const back = await atIssuer(attacker);
    // It may begin a sign-in of the victim's own, as any link may.
    expect(locationOf(await victim.get(back))).toMatch(/^\/auth\/sign-in\?/);
    expect(victim.cookies.has(SESSION)).toBe(false);
    const changed = new URL(back);
    changed.searchParams.set('state', 'other');
    expect((await attacker.get(changed.href)).status).toBe(401);
    expect(attacker.cookies.has(SESSION)).toBe(false);
    const person = createBrowserPerson();
    const mine = await atIssuer(person);
    const kept = person.cookies.get(BEGUN) ?? '';
    expect((await person.get(mine)).status).toBe(303);
    // The code was used: with all cookies put back it opens nothing.
    const thief = createBrowserPerson();
    thief.cookies.set(BEGUN, kept);
    expect((await thief.get(mine)).status).toBe(401);
    expect(thief.cookies.has(SESSION)).toBe(false);
  });

  test('tabs that are at the issuer at the same time all come in, whichever is first', async () => {
    const person = createBrowserPerson();
    const [one, two, three] = [await atIssuer(person), await atIssuer(person), await atIssuer(person)];
    for (const back of [two, one, three]) expect((await person.get(back)).status).toBe(303);
    expect(person.cookies.has(BEGUN)).toBe(false);
    // The browser keeps a few, so that its cookies stay small. A further tab begins anew.
    const busy = createBrowserPerson();
    const first = await atIssuer(busy);
    const [, , last] = [await atIssuer(busy), await atIssuer(busy), await atIssuer(busy)];
    expect(locationOf(await busy.get(first))).toBe('/auth/sign-in?to=%2F&tries=2');
    expect(busy.cookies.has(SESSION)).toBe(false);
    expect((await busy.get(last)).status).toBe(303);
  });

  test('tabs of a browser that was opened again begin at one instant, and each comes to its page', async () => {
    const person = createBrowserPerson();
    const pages = ['/sagas', '/queue?saga=none', '/ledger', '/catalog', '/'];
    const atOnce = async (tabs: readonly string[]): Promise<string[]> => {
      const answers = await Promise.all(tabs.map((place) => person.get(at + place)));
      return answers.map(locationOf);
    };
    // All of them ask before one is answered, so the cookie of the last one stays.
    const begun = await atOnce(pages.map((page) => `/auth/sign-in?to=${encodeURIComponent(page)}`));
    const backs = await Promise.all(begun.map((authorize) => fillIn(sagas.cloud, authorize)));
    const arrive = async (back: string, page: string): Promise<void> => {
      const came = locationOf(await person.get(back));
      if (came === page) return;
      expect(came).toBe(`/auth/sign-in?${new URLSearchParams({ to: page, tries: '2' }).toString()}`);
      const authorize = locationOf(await person.get(at + came));
      expect(locationOf(await person.get(await fillIn(sagas.cloud, authorize)))).toBe(page);
    };
    for (const [index, page] of pages.entries()) await arrive(backs[index] ?? '', page);
    expect((await person.get(`${at}/queue`)).text).toContain('rita@example.com');
  });

  test('a browser that keeps no cookie is not led around for ever', async () => {
    let place = '/auth/sign-in';
    const statuses: number[] = [];
    for (let tries = 0; tries < 5 && statuses.at(-1) !== 401; tries += 1) {
      const begun = await createBrowserPerson().get(at + place);
      const back = await createBrowserPerson().get(await fillIn(sagas.cloud, locationOf(begun)));
      statuses.push(back.status);
      place = locationOf(back);
    }
    expect(statuses).toEqual([303, 303, 401]);
  });

  test('an address that is too long for a cookie leads to the first page, and not to a refusal', async () => {
    const { location } = await signedIn(`/ledger?reference=${'x'.repeat(3_500)}`);
    expect(location).toBe('/');
  });

  test('session fixation: a sign-in makes a new session, whatever cookie was there', async () => {
    const first = await signedIn();
    const planted = first.person.cookies.get(SESSION) ?? '';
    const victim = createBrowserPerson();
    victim.cookies.set(SESSION, planted);
    const started = await victim.get(`${at}/auth/sign-in`);
    const vera = { name: 'vera@example.com', roles: 'reviewer' };
    await victim.get(await fillIn(sagas.cloud, locationOf(started), vera));
    expect(victim.cookies.get(SESSION)).not.toBe(planted);
    expect((await victim.get(`${at}/sagas`)).text).toContain('vera@example.com');
    expect((await first.person.get(`${at}/sagas`)).text).toContain('rita@example.com');
  });

  test('a cookie that is changed, or of another purpose, lets nobody in', async () => {
    const { person } = await signedIn();
    const good = person.cookies.get(SESSION) ?? '';
    const began = createBrowserPerson();
    await began.get(`${at}/auth/sign-in`);
    for (const bad of [`${good.slice(0, -2)}xx`, began.cookies.get(BEGUN) ?? '', 'e30.e30.e30.e30.e30', '']) {
      const thief = createBrowserPerson();
      thief.cookies.set(SESSION, bad);
      expect((await thief.get(`${at}/`)).status).toBe(302);
    }
  });

  test.each([
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    'javascript:alert(1)',
    '/auth/sign-in',
    '\\\\evil.example',
    'evil.example',
  ])('open redirect: %j leads to the first page', async (to) => {
    const person = createBrowserPerson();
    const begun = await person.get(`${at}/auth/sign-in?${new URLSearchParams({ to }).toString()}`);
    const back = await person.get(await fillIn(sagas.cloud, locationOf(begun)));
    expect([back.status, locationOf(back)]).toEqual([303, '/']);
    // A state that somebody made up leads no further.
    const state = `x.${Buffer.from(JSON.stringify([1, to])).toString('base64url')}`;
    const forged = await person.get(`${at}/auth/callback?${new URLSearchParams({ state }).toString()}`);
    expect([forged.status, locationOf(forged)]).toEqual([303, '/']);
  });

  test('clickjacking: no page stands in a frame, runs foreign script, or is kept', async () => {
    const { person } = await signedIn();
    const stranger = createBrowserPerson();
    const answers = [
      ...(await Promise.all(['/', '/queue', '/nowhere'].map((path) => person.get(at + path)))),
      await stranger.get(`${at}/`),
      await stranger.get(`${at}/auth/callback?code=x&state=y`),
    ];
    for (const { headers } of answers) {
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toContain('unsafe');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('strict-transport-security')).toMatch(/max-age=\d{7,}/);
      expect(headers.get('cache-control')).toBe('no-store');
    }
  });

  test('who says no at the issuer, or forges its answer, is told, and is not signed in', async () => {
    const person = createBrowserPerson();
    const back = new URL(await atIssuer(person));
    back.searchParams.delete('code');
    back.searchParams.set('error', 'access_denied');
    back.searchParams.set('error_description', '<script>alert(1)</script>');
    const page = await person.get(back.href);
    expect(page.status).toBe(401);
    expect(page.text).not.toContain('<script>');
    expect(page.text).toContain('Sign in again');
  });
});

describe('the issuer of the embedded cloud', () => {
  test('signs in no browser without the secret, and sends nobody elsewhere', async () => {
    const person = createBrowserPerson();
    const begun = new URL(locationOf(await person.get(`${at}/auth/sign-in`)));
    const page = await person.get(begun.href);
    const url = `${sagas.cloud.endpoints.identity}/authorize`;
    const secret = sagas.cloud.environment['WALKBACK_LOGIN_SECRET'] ?? '';
    const form = { ...hiddenIn(page.text), login_hint: 'rita' };
    expect((await person.post(url, { ...form, secret: 'guess' })).status).toBe(401);
    for (const redirect of [
      'https://evil.example/',
      'http://127.0.0.1.evil.example:1/',
      'http://10.0.0.1:80/',
    ]) {
      begun.searchParams.set('redirect_uri', redirect);
      expect((await person.get(begun.href)).status).toBe(400);
      expect((await person.post(url, { ...form, secret, redirect_uri: redirect })).status).toBe(400);
    }
  });
});
