/** Signatures of calls to HTTP tools: what they hold for, and what they do not. */
import { describe, expect, test } from 'vitest';
import { endpointKey, signatureHeader } from '../../core/saga/tools/http-signature.ts';
import { verifySignature } from '../../kit/verify-signature.ts';

const SECRET = 'a secret of this test';

describe('a signature', () => {
  const seconds = 1_700_000_000;
  const here = 'https://tools.example/act?v=1';
  const key = endpointKey(SECRET, here);
  const header = signatureHeader(key, { seconds, url: here, body: '{"a":1}' });
  const good = { url: here, headers: { 'Walkback-Signature': header }, body: '{"a":1}' };
  const at = (offset: number) => ({ now: () => (seconds + offset) * 1000 });

  test('holds for its URL, its body, its key and its time', () => {
    expect(verifySignature(good, key, at(0))).toBe(true);
    const bytes = { ...good, headers: new Headers(good.headers), body: Buffer.from(good.body) };
    expect(verifySignature(bytes, key, at(300))).toBe(true);
    expect(verifySignature(good, key, { ...at(900), toleranceSeconds: 1000 })).toBe(true);
  });

  test('holds for either key while it is changed', () => {
    expect(verifySignature(good, ['the new one', key], at(0))).toBe(true);
    expect(verifySignature(good, ['the new one', 'the one before'], at(0))).toBe(false);
  });

  test.each([
    ['a tampered body', { body: '{"a":2}' }, 0],
    ['another endpoint of the same origin', { url: 'https://tools.example/pay' }, 0],
    ['an old call', {}, 301],
    ['a call from the future', {}, -301],
    ['a new time on it', { headers: { 'walkback-signature': header.replace('t=17', 't=18') } }, 100_000_000],
    ['no header', { headers: {} }, 0],
    ['half a header', { headers: { 'walkback-signature': header.slice(0, -1) } }, 0],
    ['two headers', { headers: { 'walkback-signature': [header, header] } }, 0],
    ['the scheme before', { headers: { 'walkback-signature': header.replace('v2=', 'v1=') } }, 0],
  ])('does not hold for %s', (_, given, offset) => {
    expect(verifySignature({ ...good, ...given }, key, at(offset))).toBe(false);
  });

  test('of one tool is worth nothing to another: every origin has its own key', () => {
    expect(verifySignature(good, SECRET, at(0))).toBe(false);
    for (const other of ['https://pay.example', 'http://tools.example', 'https://tools.example:8443']) {
      expect(verifySignature(good, endpointKey(SECRET, other), at(0))).toBe(false);
    }
    expect(endpointKey(SECRET, 'https://TOOLS.example:443/else')).toBe(key);
  });

  test("an endpoint's key is what openssl makes of the secret and the origin", () => {
    // printf %s https://tools.example | openssl dgst -sha256 -hmac 'a secret of this test'
    expect(key).toBe('7b06874f3747052695dfcda133d8c9fc55ff625a9532c1568a4ba0e42da616ce');
  });
});
