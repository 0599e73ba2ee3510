/** The tokens of the local issuer. */

import { randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import { HOUR_SECONDS } from '../../contract/times.ts';
import type { TokenKey } from './keys.ts';

/** A name that never resolves to another machine (RFC 6761), and is the same for every port. */
export const LOCAL_ISSUER = 'http://walkback.localhost';
export const LOCAL_AUDIENCE = 'walkback';
export const LOCAL_SCOPE = 'walkback/act';
export const LOCAL_GROUP_PREFIX = 'walkback-';

export const TOKEN_SECONDS = 8 * HOUR_SECONDS;

interface Asked {
  login_hint: string;
  roles: readonly string[];
  scope: string;
}

export interface Mint {
  access(asked: Asked): Promise<string>;
  /** For the client that signed somebody in; it gives access to nothing. */
  id(asked: Asked, nonce: string | undefined): Promise<string>;
}

export const createMint = ({ key, now }: { key: TokenKey; now: () => number }): Mint => {
  const sign = (typ: string, who: string, claims: Record<string, unknown>): Promise<string> => {
    const seconds = Math.floor(now() / 1000);
    return new SignJWT({
      auth_time: seconds,
      ...claims,
      ...(who.includes('@') ? { email: who, email_verified: true } : {}),
    })
      .setProtectedHeader({ alg: key.algorithm, kid: key.kid, typ })
      .setIssuer(LOCAL_ISSUER)
      .setAudience(LOCAL_AUDIENCE)
      .setSubject(who.includes('@') ? who : `dev:${who}`)
      .setJti(randomUUID())
      .setIssuedAt(seconds)
      .setExpirationTime(seconds + TOKEN_SECONDS)
      .sign(key.privateKey);
  };
  return {
    access: ({ login_hint: who, roles, scope }) =>
      sign('at+jwt', who, { scope, groups: roles.map((role) => LOCAL_GROUP_PREFIX + role) }),
    id: ({ login_hint: who }, nonce) => sign('JWT', who, nonce === undefined ? {} : { nonce }),
  };
};
