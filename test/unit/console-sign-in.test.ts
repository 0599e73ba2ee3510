/** What a browser keeps of a sign-in, and where it may lead. */
import { describe, expect, test } from 'vitest';
import { createPages } from '../../console/app.ts';
import { LOOK_HEADER } from '../../console/parts/script.ts';
import { createSignInGate } from '../../console/sign-in/gate.ts';
import { ownPath } from '../../console/sign-in/own-path.ts';
import { createSeal } from '../../console/sign-in/seal.ts';
import { WalkbackError } from '../../core/shared/errors.ts';

const START = Date.parse('2026-01-02T10:00:00Z');

describe('what is sealed', () => {
  test('is over with its token, with its secret and with its purpose', async () => {
    let nowMs = START;
    let secret = 'one';
    const seal = createSeal({ secret: async () => secret, now: () => new Date(nowMs) });
    const text = await seal.seal('session', { id: 'x' }, START + 60_000);
    expect(text).not.toContain('"id"');
    expect(await seal.open('session', text)).toEqual({ id: 'x' });
    expect(await seal.open('sign-in', text)).toBeUndefined();
    secret = 'two';
    expect(await seal.open('session', text)).toBeUndefined();
    secret = 'one';
    nowMs = START + 61_000;
    expect(await seal.open('session', text)).toBeUndefined();
  });
});

describe('an expired token', () => {
  test('leads to the sign-in, though the cookie is still there', async () => {
    const seal = createSeal({ secret: async () => 'one' });
    const cookie = await seal.seal(
      '__Host-walkback',
      { id: 'x', token: 'stolen', name: 'rita' },
      Date.now() + 60_000,
    );
    const refuse = async () => {
      throw new WalkbackError('ProofInvalid', 'The proof was not accepted: Token expired.');
    };
    const gate = createSignInGate({
      signIn: { begin: refuse, finish: refuse },
      calls: { identify: refuse, call: refuse },
      seal,
      signOuts: { add: async () => undefined, has: async () => false },
    });
    const app = createPages({
      gate,
      failureOf: (error) => ({ name: error instanceof Error ? error.name : '', message: String(error) }),
    });
    const page = await app.request('https://console.example/sagas?status=AWAITING', {
      headers: { cookie: `__Host-walkback=${cookie}`, accept: 'text/html' },
    });
    expect(page.status).toBe(401);
    const text = await page.text();
    expect(text).toContain('/auth/sign-in?again=yes&amp;to=%2Fsagas%3Fstatus%3DAWAITING');
    expect(text).not.toContain('stolen');
  });
});

describe('who is not signed in any more', () => {
  test('is led to the sign-in, and a page of theirs that looks again is not: it would take the place of the sign-in under way', async () => {
    const never = async () => Promise.reject(new Error('not called'));
    const gate = createSignInGate({
      signIn: { begin: never, finish: never },
      calls: { identify: never, call: never },
      seal: createSeal({ secret: async () => 'one' }),
      signOuts: { add: async () => undefined, has: async () => false },
    });
    const app = createPages({ gate, failureOf: (error) => ({ name: '', message: String(error) }) });
    const ask = (headers: Record<string, string>) =>
      app.request('https://console.example/sagas/s', { headers: { accept: 'text/html', ...headers } });
    expect((await ask({})).headers.get('location')).toBe('/auth/sign-in?to=%2Fsagas%2Fs');
    const looked = await ask({ [LOOK_HEADER]: 'yes' });
    expect([looked.status, looked.headers.get('location')]).toEqual([401, null]);
  });
});

test.each([580, 90])(
  'three sign-ins that lead back to %i backslashes have room in the cookie',
  async (length) => {
    const never = async () => Promise.reject(new Error('not called'));
    const long = 'x'.repeat(43);
    const gate = createSignInGate({
      signIn: {
        begin: async ({ note }) => ({
          url: 'https://issuer.example/',
          begun: { state: `${long}.${note}`, nonce: long, verifier: long },
        }),
        finish: never,
      },
      calls: { identify: never, call: never },
      seal: createSeal({ secret: async () => 'one' }),
      signOuts: { add: async () => undefined, has: async () => false },
    });
    const app = createPages({ gate, failureOf: (error) => ({ name: '', message: String(error) }) });
    const to = encodeURIComponent(`/ledger?q=${'\\'.repeat(length)}`);
    let cookie = '';
    for (const _ of [1, 2, 3]) {
      const begun = await app.request(`https://console.example/auth/sign-in?to=${to}`, {
        headers: { cookie },
      });
      expect(begun.status).toBe(302);
      [cookie = ''] = (begun.headers.get('set-cookie') ?? '').split(';');
    }
  },
);

test.each([
  ['/sagas?status=x', '/sagas?status=x'],
  ['/a/../b', '/b'],
  ['/', '/'],
  [undefined, '/'],
  ['', '/'],
  ['sagas', '/'],
  ['https://evil.example/', '/'],
  ['//evil.example', '/'],
  ['/\\evil.example', '/'],
  ['/\t/evil.example', '/'],
  ['/..//evil.example', '/'],
  ['/auth/sign-out', '/'],
  ['/./auth/sign-in', '/'],
])('from %j the way leads to %s', (given, to) => {
  expect(ownPath(given)).toBe(to);
});
