/** Signs a person in at an OIDC issuer from a terminal, with the device flow (RFC 8628). */
import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import { CliError } from '../failure.ts';
import type { Issuer } from './issuer.ts';

const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const REQUEST_MS = 10_000;
/** RFC 8628, sections 3.2 and 3.5. */
const DEFAULT_INTERVAL_SECONDS = 5;
const SLOWER_SECONDS = 5;

const configurationSchema = z.object({
  issuer: z.string(),
  device_authorization_endpoint: z.url().optional(),
  token_endpoint: z.url(),
});

const deviceSchema = z.object({
  device_code: z.string(),
  user_code: z.string(),
  verification_uri: z.string(),
  verification_uri_complete: z.string().optional(),
  expires_in: z.number(),
  interval: z.number().default(DEFAULT_INTERVAL_SECONDS),
});

const tokenSchema = z.union([
  z.object({ access_token: z.string() }),
  z.object({ error: z.string(), error_description: z.string().optional() }),
]);

const unavailable = (url: string, cause?: unknown): CliError =>
  new CliError('IdentityUnavailable', `The issuer of tokens does not answer: ${url}`, { cause });

interface Call {
  signal: AbortSignal;
  form?: Record<string, string>;
  secret?: string | undefined;
}

/** The answer, whatever its status: OAuth errors are JSON too. */
const ask = async (url: string, { signal, form, secret }: Call): Promise<unknown> => {
  try {
    const response = await fetch(url, {
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]),
      headers: secret === undefined ? {} : { authorization: `Bearer ${secret}` },
      ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form) }),
    });
    return await response.json();
  } catch (cause) {
    signal.throwIfAborted();
    throw unavailable(url, cause);
  }
};

const refusedBy = (error: string, description?: string): CliError =>
  new CliError('ProofInvalid', `The issuer did not sign you in: ${description ?? error}`);

export interface SignIn {
  /** Only the issuer of an embedded cloud believes this. */
  as?: { name: string; roles: readonly string[] };
  /** Shows the person where to go. */
  show: (place: { url: string; code: string }) => void;
  signal: AbortSignal;
}

/**
 * Answers the token. Throws `IdentityUnavailable`, or `ProofInvalid` when the person declined or was too
 * late.
 */
export const signIn = async (place: Issuer, { as, show, signal }: SignIn): Promise<string> => {
  const { issuer, configuration, clientId, scope, secret } = place;
  const found = configurationSchema.parse(await ask(configuration, { signal }));
  if (found.issuer !== issuer) {
    throw new CliError('ConfigurationError', `${configuration} is of ${found.issuer}, not of ${issuer}.`);
  }
  const endpoint = found.device_authorization_endpoint;
  if (endpoint === undefined) {
    throw new CliError('ConfigurationError', `${issuer} does not sign in from a terminal.`, {
      hint: 'walkback login --token - reads a token that you got elsewhere',
    });
  }
  const named: Record<string, string> =
    as === undefined ? {} : { login_hint: as.name, roles: as.roles.join(' ') };
  const answer = await ask(endpoint, { signal, secret, form: { client_id: clientId, scope, ...named } });
  const device = deviceSchema.safeParse(answer);
  if (!device.success) {
    const { error, error_description } = z
      .object({ error: z.string().default('its answer is none'), error_description: z.string().optional() })
      .parse(answer);
    throw refusedBy(error, error_description);
  }
  const { device_code, user_code, expires_in } = device.data;
  if (secret === undefined) {
    show({ url: device.data.verification_uri_complete ?? device.data.verification_uri, code: user_code });
  }
  let { interval } = device.data;
  const deadline = Date.now() + expires_in * 1000;
  const form = { grant_type: DEVICE_GRANT, device_code, client_id: clientId };
  for (;;) {
    const token = tokenSchema.parse(await ask(found.token_endpoint, { signal, form }));
    if ('access_token' in token) return token.access_token;
    if (token.error === 'slow_down') interval += SLOWER_SECONDS;
    else if (token.error !== 'authorization_pending') throw refusedBy(token.error, token.error_description);
    if (Date.now() > deadline) throw refusedBy('expired_token', 'it took too long; start again');
    await delay(interval * 1000, undefined, { signal });
  }
};
