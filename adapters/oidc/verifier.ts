/**
 * Verifies OIDC tokens with `aws-jwt-verify`. The library checks signature, issuer, expiry and scope. This
 * file also requires an audience, an expiry and a subject. No error or log contains a token.
 */

import { FetchError, JwtBaseError, WaitPeriodNotYetEndedJwkError } from 'aws-jwt-verify/error';
import { SimpleJwksCache } from 'aws-jwt-verify/jwk';
import { JwtVerifier } from 'aws-jwt-verify/jwt-verifier';
import * as z from 'zod';
import { PERSON_ROLES } from '../../contract/people.ts';
import type { IdentityVerifier, Proven } from '../../core/saga/people/identify.ts';
import { isWalkbackError, WalkbackError } from '../../core/shared/errors.ts';
import { fetchDocument } from './documents.ts';

export interface OidcOptions {
  /** Exactly as in the `iss` claim. */
  issuer: string;
  /** A value of the `aud` claim, or the `client_id` of a token without `aud` (Cognito's access tokens). */
  audience: string;
  /** A value of the `scope` claim. */
  scope: string;
  /** Address of its configuration document. Default: the usual place below the issuer. */
  configuration?: string;
  /** A group's name is this prefix and the name of a role. */
  groupPrefix: string;
}

const words = z.union([z.array(z.string()), z.string().transform((text) => text.split(' '))]);

const claims = z.looseObject({
  iss: z.string(),
  sub: z.string().min(1),
  exp: z.number(),
  aud: words.optional(),
  client_id: z.string().optional(),
  email: z.string().min(1).optional(),
  // Cognito writes it as a text.
  email_verified: z.union([z.boolean(), z.enum(['true', 'false'])]).optional(),
  auth_time: z.number().optional(),
  jti: z.string().optional(),
  groups: words.optional(),
  roles: words.optional(),
  'cognito:groups': words.optional(),
});
type Claims = z.infer<typeof claims>;

const invalid = (why: string, cause?: unknown): WalkbackError =>
  new WalkbackError('ProofInvalid', `The proof was not accepted: ${why}`, { cause });

const requireAudience = ({ aud, client_id }: Claims, audience: string): void => {
  const named = aud ?? (client_id === undefined ? [] : [client_id]);
  if (!named.includes(audience))
    throw invalid(`it is for ${named.join(', ') || 'nobody'}, not for ${audience}.`);
};

/** An unverified address could belong to somebody else. */
const emailOf = ({ email, email_verified }: Claims): string | undefined =>
  email_verified === false || email_verified === 'false' ? undefined : email;

const provenBy = (token: Claims, { groupPrefix }: OidcOptions): Proven => {
  const groups = [...(token.groups ?? []), ...(token.roles ?? []), ...(token['cognito:groups'] ?? [])];
  const email = emailOf(token);
  const { iss, sub, auth_time, jti } = token;
  return {
    person: {
      iss,
      sub,
      ...(email === undefined ? {} : { email }),
      ...(auth_time === undefined ? {} : { authTime: new Date(auth_time * 1000).toISOString() }),
      ...(jti === undefined ? {} : { tokenId: jti }),
      ...(iss.startsWith('https:') ? {} : { dev: true }),
    },
    roles: PERSON_ROLES.filter((role) => groups.includes(groupPrefix + role)),
  };
};

const configurationSchema = z.object({ issuer: z.string(), jwks_uri: z.string() });

/** Where the keys are. The document must name this same issuer. */
const findKeys = async ({ issuer, configuration }: OidcOptions): Promise<string> => {
  const url = configuration ?? `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const bytes = await fetchDocument(url);
  const found = configurationSchema.parse(JSON.parse(Buffer.from(bytes).toString()));
  if (found.issuer === issuer) return found.jwks_uri;
  throw new WalkbackError('ConfigurationError', `${url} is of the issuer ${found.issuer}, not of ${issuer}.`);
};

const told = (error: unknown): WalkbackError => {
  if (isWalkbackError(error)) return error;
  if (error instanceof FetchError || error instanceof WaitPeriodNotYetEndedJwkError) {
    const message = 'The keys of the issuer of tokens cannot be read now.';
    return new WalkbackError('IdentityUnavailable', message, { cause: error, retryable: true });
  }
  if (error instanceof JwtBaseError) return invalid(error.message, error);
  if (error instanceof z.ZodError) return invalid(z.prettifyError(error), error);
  throw error;
};

/** Configuration and keys are fetched with the first token, and kept. */
export const createOidcVerifier = (options: OidcOptions): IdentityVerifier => {
  const make = async () => {
    const jwksUri = await findKeys(options);
    return JwtVerifier.create(
      { issuer: options.issuer, audience: null, scope: options.scope, jwksUri },
      { jwksCache: new SimpleJwksCache({ fetcher: { fetch: fetchDocument } }) },
    );
  };
  let made: ReturnType<typeof make> | undefined;
  return {
    verify: async (proof) => {
      try {
        const making = (made ??= make());
        // After a failure, the issuer is asked again.
        making.catch(() => {
          made = undefined;
        });
        const token = claims.parse(await (await making).verify(proof));
        requireAudience(token, options.audience);
        return provenBy(token, options);
      } catch (error) {
        throw told(error);
      }
    },
  };
};
