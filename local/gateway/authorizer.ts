/**
 * The JWT authorizer of an HTTP API. It checks issuer, audience (`client_id` only when there is no `aud`),
 * times, and that the token has one of the route's scopes. Like API Gateway, it accepts only RSA keys.
 */
import { errors, importJWK, jwtVerify } from 'jose';
import type { TokenKey } from '../identity/keys.ts';
import { LOCAL_ISSUER } from '../identity/mint.ts';
import type { RoutePlan } from './plan-routes.ts';

type Claims = Record<string, unknown>;

export type Authorized =
  | { allowed: true; claims: Claims; scopes: string[] }
  | { allowed: false; status: 401 | 403; why: string };

const ALGORITHMS = ['RS256', 'RS384', 'RS512'];

const words = (value: unknown): string[] =>
  Array.isArray(value) ? value.map(String) : typeof value === 'string' ? value.split(' ') : [];

const whyOf = (error: unknown): string => {
  if (error instanceof errors.JWTExpired) return 'the token has expired';
  if (error instanceof errors.JWTClaimValidationFailed)
    return `the token does not have a valid ${error.claim}`;
  return 'invalid token';
};

const refused = (why: string): Authorized => ({ allowed: false, status: 401, why });

export const createAuthorizer = (key: TokenKey) => {
  const publicKey = importJWK(key.publicJwk, key.algorithm);
  return async (
    header: string | undefined,
    { audience, scopes }: NonNullable<RoutePlan['authorizer']>,
  ): Promise<Authorized> => {
    const token = (header ?? '').replace(/^Bearer\s+/i, '');
    if (token === '') return refused('');
    let claims: Claims;
    try {
      const { payload } = await jwtVerify(token, await publicKey, {
        issuer: LOCAL_ISSUER,
        algorithms: ALGORITHMS,
        requiredClaims: ['exp'],
      });
      claims = payload;
    } catch (error) {
      return refused(whyOf(error));
    }
    const named =
      claims['aud'] === undefined ? words(claims['client_id']) : [claims['aud']].flat().map(String);
    if (!named.some((one) => audience.includes(one)))
      return refused('the token does not have a valid audience');
    const iat = claims['iat'];
    if (typeof iat === 'number' && iat > Date.now() / 1000) return refused('the token was issued later');
    const given = [...words(claims['scope']), ...words(claims['scp'])];
    if (scopes.length > 0 && !scopes.some((one) => given.includes(one))) {
      return { allowed: false, status: 403, why: 'insufficient_scope' };
    }
    return { allowed: true, claims, scopes: given };
  };
};
