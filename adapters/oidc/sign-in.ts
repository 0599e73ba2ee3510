/**
 * `openid-client` behind `SignIn`. It checks state, nonce, the ID token and its signature. No error contains
 * a token.
 */
import * as oidc from 'openid-client';
import * as z from 'zod';
import type { SignIn } from '../../core/people/sign-in.ts';
import { isWalkbackError, WalkbackError } from '../../core/shared/errors.ts';
import { fetchDocument } from './documents.ts';

interface SignInOptions {
  /** Exactly as in the `iss` claim. */
  issuer: string;
  /** Address of its configuration document. Default: the usual place below the issuer. */
  configuration?: string;
  clientId: string;
  /** Absent: a public client, which only PKCE protects. */
  clientSecret?: string;
  /** Audience of the access token. */
  audience: string;
  scope: string;
}

const PATIENCE_SECONDS = 5;

const documentSchema = z.object({ issuer: z.string(), authorization_endpoint: z.url() }).catchall(z.json());

const read = async ({ issuer, configuration }: SignInOptions): Promise<oidc.ServerMetadata> => {
  const url = configuration ?? `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const found = documentSchema.safeParse(JSON.parse(Buffer.from(await fetchDocument(url)).toString()));
  if (!found.success) {
    throw new WalkbackError(
      'ConfigurationError',
      `${url} names no place where people sign in with a browser.`,
    );
  }
  if (found.data.issuer === issuer) return found.data;
  throw new WalkbackError('ConfigurationError', `${url} is of ${found.data.issuer}, not of ${issuer}.`);
};

const configure = async (options: SignInOptions): Promise<oidc.Configuration> => {
  const { clientId, clientSecret, issuer } = options;
  const authentication = clientSecret === undefined ? oidc.None() : oidc.ClientSecretPost(clientSecret);
  const configuration = new oidc.Configuration(await read(options), clientId, undefined, authentication);
  configuration.timeout = PATIENCE_SECONDS;
  oidc.enableNonRepudiationChecks(configuration);
  // Only for the embedded cloud: `fetchDocument` refuses any other issuer without TLS.
  if (issuer.startsWith('http:')) oidc.allowInsecureRequests(configuration);
  return configuration;
};

/** The message of the issuer or of the library. Neither quotes a token. */
const told = (error: unknown): WalkbackError => {
  if (isWalkbackError(error)) return error;
  if (error instanceof oidc.AuthorizationResponseError || error instanceof oidc.ResponseBodyError) {
    const why = error.error_description ?? error.error;
    return new WalkbackError('ProofInvalid', `The issuer did not sign you in: ${why.slice(0, 200)}`, {
      cause: error,
    });
  }
  if (error instanceof oidc.ClientError && error.code !== 'OAUTH_TIMEOUT') {
    return new WalkbackError('ProofInvalid', `The answer of the issuer was not accepted: ${error.message}`, {
      cause: error,
    });
  }
  return new WalkbackError('IdentityUnavailable', 'The issuer of tokens does not answer. Try again.', {
    cause: error,
  });
};

/** The configuration of the issuer is read at the first sign-in, and kept. */
export const createSignIn = (options: SignInOptions): SignIn => {
  let made: Promise<oidc.Configuration> | undefined;
  const configured = (): Promise<oidc.Configuration> => {
    const making = (made ??= configure(options));
    // After a failure, the issuer is asked again.
    making.catch(() => {
      made = undefined;
    });
    return making;
  };
  const telling = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw told(error);
    }
  };
  return {
    begin: ({ redirectUri, again, note }) =>
      telling(async () => {
        const begun = {
          state: `${oidc.randomState()}.${note}`,
          nonce: oidc.randomNonce(),
          verifier: oidc.randomPKCECodeVerifier(),
        };
        const url = oidc.buildAuthorizationUrl(await configured(), {
          redirect_uri: redirectUri,
          scope: `openid email ${options.scope}`,
          // Issuers that give tokens for several applications need this; others ignore it.
          audience: options.audience,
          state: begun.state,
          nonce: begun.nonce,
          code_challenge: await oidc.calculatePKCECodeChallenge(begun.verifier),
          code_challenge_method: 'S256',
          ...(again && { prompt: 'login' }),
        });
        return { url: url.href, begun };
      }),
    finish: (answer, { state, nonce, verifier }) =>
      telling(async () => {
        const tokens = await oidc.authorizationCodeGrant(await configured(), answer, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        return tokens.access_token;
      }),
  };
};
