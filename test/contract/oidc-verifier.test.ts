/** Real tokens against the real library: what is accepted, and every way in which one is not. */
import { generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createOidcVerifier, type OidcOptions } from '../../adapters/oidc/verifier.ts';
import { startTokenIssuer, type TokenIssuer } from '../support/token-issuer.ts';

let issuer: TokenIssuer;
beforeAll(async () => {
  issuer = await startTokenIssuer();
});
afterAll(() => issuer[Symbol.asyncDispose]());

const verifierOf = (more: Partial<OidcOptions> = {}) =>
  createOidcVerifier({
    issuer: issuer.url,
    audience: 'walkback',
    scope: 'walkback/act',
    groupPrefix: 'walkback-',
    ...more,
  });

const seconds = () => Math.floor(Date.now() / 1000);

describe('a token that is in order', () => {
  test('says who it is, since when, and in which roles', async () => {
    const at = seconds();
    const proven = await verifierOf().verify(await issuer.sign({ claims: { auth_time: at } }));
    expect(proven).toEqual({
      person: {
        iss: issuer.url,
        sub: 'user-1',
        email: 'rita@example.com',
        authTime: new Date(at * 1000).toISOString(),
        tokenId: 'token-1',
        dev: true,
      },
      roles: ['reviewer', 'operator'],
    });
  });

  test.each([
    [
      'of Cognito',
      { aud: undefined, client_id: 'walkback', groups: undefined, 'cognito:groups': ['walkback-operator'] },
      ['operator'],
    ],
    ['with several audiences', { aud: ['other', 'walkback'], groups: ['walkback-reviewer'] }, ['reviewer']],
    ['with roles as one text', { groups: undefined, roles: 'staff walkback-reviewer' }, ['reviewer']],
    ['without groups', { groups: undefined }, []],
    ['with groups of others only', { groups: ['reviewer', 'other-operator'] }, []],
  ])('%s', async (_, claims, roles) => {
    expect((await verifierOf().verify(await issuer.sign({ claims }))).roles).toEqual(roles);
  });

  test('an address that nobody checked is not believed', async () => {
    for (const email_verified of [false, 'false']) {
      const { person } = await verifierOf().verify(await issuer.sign({ claims: { email_verified } }));
      expect(person.email).toBeUndefined();
    }
  });

  test('the keys are fetched once', async () => {
    const verifier = verifierOf();
    await verifier.verify(await issuer.sign());
    const before = issuer.fetches();
    for (let round = 0; round < 5; round += 1) await verifier.verify(await issuer.sign());
    expect(issuer.fetches()).toBe(before);
  });
});

describe('refused as ProofInvalid', () => {
  const refused = async (token: string, verifier = verifierOf()) => {
    const error: unknown = await verifier.verify(token).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'ProofInvalid' });
    // A token opens doors, so no message and no log has one.
    const [, payload = token, signature = token] = token.split('.');
    const said = JSON.stringify([String(error), error]);
    if (payload.length > 20) expect(said).not.toContain(payload);
    if (signature.length > 20) expect(said).not.toContain(signature);
  };

  test.each([
    ['expired', { exp: seconds() - 1 }],
    ['without an expiry', { exp: undefined }],
    ['not valid yet', { nbf: seconds() + 600 }],
    ['for another application', { aud: 'another-app' }],
    ['for another client', { aud: undefined, client_id: 'another-app' }],
    ['whose audience is another, whatever its client', { aud: 'another-app', client_id: 'walkback' }],
    ['for nobody', { aud: undefined }],
    ['without the scope', { scope: 'openid' }],
    ['with no scope at all, as an ID token', { scope: undefined }],
    ['with a scope that only begins alike', { scope: 'walkback/acting' }],
    ['of another issuer', { iss: 'https://evil.example' }],
    ['without a subject', { sub: undefined }],
    ['with an empty subject', { sub: '' }],
    ['with an expiry that is no number', { exp: 'never' }],
  ])('a token %s', async (_, claims) => refused(await issuer.sign({ claims })));

  test('a token that somebody else signed', async () => {
    const { privateKey } = await generateKeyPair('RS256');
    await refused(await issuer.sign({ key: privateKey }));
  });

  test('a token without signature (alg none)', () => refused(issuer.unsigned()));

  test('a token signed with the public key as a secret (algorithm confusion)', async () => {
    const secret = new TextEncoder().encode(await issuer.publicKey());
    await refused(await issuer.sign({ header: { alg: 'HS256' }, key: secret }));
  });

  test('a token whose claims were changed after signing', async () => {
    const [header, payload = '', signature] = (await issuer.sign()).split('.');
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const forged = Buffer.from(JSON.stringify({ ...(claims as object), sub: 'boss' })).toString('base64url');
    await refused([header, forged, signature].join('.'));
  });

  test('a key of its own in the header is not used', async () => {
    const { privateKey } = await generateKeyPair('RS256');
    await refused(await issuer.sign({ key: privateKey, header: { jku: `${issuer.url}/evil` } }));
  });

  test.each(['', '.', 'a.b.c', 'not a token', 'e30.e30.', 'x'.repeat(8000)])('%j', (text) => refused(text));
});

describe('an issuer in trouble', () => {
  test('that does not answer is IdentityUnavailable, and is asked again', async () => {
    await using other = await startTokenIssuer();
    const verifier = verifierOf({ issuer: other.url });
    const token = await other.sign();
    other.fail(true);
    await expect(verifier.verify(token)).rejects.toMatchObject({
      name: 'IdentityUnavailable',
      retryable: true,
    });
    other.fail(false);
    await expect(verifier.verify(token)).resolves.toMatchObject({ person: { sub: 'user-1' } });
  });

  test('a configuration of another issuer is refused', async () => {
    const verifier = verifierOf({
      issuer: 'https://id.example',
      configuration: `${issuer.url}/.well-known/openid-configuration`,
    });
    await expect(verifier.verify(await issuer.sign())).rejects.toMatchObject({ name: 'ConfigurationError' });
  });

  test.each(['http://id.example', 'http://127.0.0.1.evil.example', 'ftp://127.0.0.1', 'nonsense'])(
    'keys are not fetched from %s',
    async (address) => {
      const verifier = verifierOf({ issuer: address });
      await expect(verifier.verify(await issuer.sign())).rejects.toMatchObject({
        name: 'ConfigurationError',
      });
    },
  );
});
