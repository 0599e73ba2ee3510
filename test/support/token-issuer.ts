/** An OIDC issuer of its own on loopback, whose tokens can be wrong in every way. */
import { createServer } from 'node:http';
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';

interface Wrong {
  /** Instead of, or beside, the usual claims; undefined takes one away. */
  claims?: Record<string, unknown>;
  header?: Record<string, string>;
  key?: CryptoKey | Uint8Array;
}

export interface TokenIssuer extends AsyncDisposable {
  url: string;
  /** How often its keys were fetched. */
  fetches: () => number;
  /** Answers nothing but errors from now on, or again. */
  fail(isFailing: boolean): void;
  sign(wrong?: Wrong): Promise<string>;
  unsigned(): string;
  publicKey(): Promise<string>;
}

export const startTokenIssuer = async (): Promise<TokenIssuer> => {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', use: 'sig', alg: 'RS256' };
  let fetched = 0;
  let failing = false;
  const server = createServer((request, response) => {
    if (failing) return void response.writeHead(500).end();
    response.setHeader('content-type', 'application/json');
    if (request.url === '/keys') {
      fetched += 1;
      return void response.end(JSON.stringify({ keys: [jwk] }));
    }
    response.end(JSON.stringify({ issuer: url, jwks_uri: `${url}/keys` }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const usual = (): Record<string, unknown> => {
    const seconds = Math.floor(Date.now() / 1000);
    return {
      iss: url,
      sub: 'user-1',
      aud: 'walkback',
      scope: 'openid walkback/act',
      email: 'rita@example.com',
      groups: ['walkback-reviewer', 'walkback-operator'],
      auth_time: seconds,
      iat: seconds,
      exp: seconds + 600,
      jti: 'token-1',
    };
  };
  const claimsOf = (wrong: Record<string, unknown> = {}) =>
    Object.fromEntries(Object.entries({ ...usual(), ...wrong }).filter(([, value]) => value !== undefined));
  return {
    url,
    fetches: () => fetched,
    fail: (isFailing) => {
      failing = isFailing;
    },
    sign: ({ claims, header = {}, key = privateKey } = {}) =>
      new SignJWT(claimsOf(claims)).setProtectedHeader({ alg: 'RS256', kid: 'one', ...header }).sign(key),
    unsigned: () => new UnsecuredJWT(usual()).encode(),
    publicKey: async () => JSON.stringify(jwk),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
