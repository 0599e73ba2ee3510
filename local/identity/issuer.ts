/**
 * The OIDC issuer of the embedded cloud. Whoever may read the keys of the cloud may sign in as anybody, so its
 * tokens are marked (`dev`): they show who said to be who, not who it was. The flow is the one for devices
 * (RFC 8628), as of an issuer that people sign in at; here the secret stands for the person at the browser.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { SignJWT } from 'jose';
import * as z from 'zod';
import { sameSecret } from '../e2b/guard.ts';
import type { TokenKey } from './keys.ts';

/** A name that reaches nobody else's machine (RFC 6761), the same whatever the port. */
export const LOCAL_ISSUER = 'http://walkback.localhost';
export const LOCAL_AUDIENCE = 'walkback';
export const LOCAL_SCOPE = 'walkback/act';
export const LOCAL_GROUP_PREFIX = 'walkback-';

const TOKEN_SECONDS = 8 * 3600;
const CODE_SECONDS = 600;
/** Codes that nobody fetched; the oldest goes. */
const MAX_CODES = 100;
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** What opens the issuer; derived, so that nothing more has to be kept. */
export const loginSecret = (secretAccessKey: string): string =>
  createHmac('sha256', secretAccessKey).update('login').digest('hex');

const authorizationSchema = z.object({
  client_id: z.literal(LOCAL_AUDIENCE),
  scope: z.string().refine((scope) => scope.split(' ').includes(LOCAL_SCOPE)),
  /** Who signs in. */
  login_hint: z.string().trim().min(1).max(200),
  roles: z
    .string()
    .default('reviewer operator')
    .transform((text) => text.split(' ').filter((role) => role !== '')),
});
type Grant = z.infer<typeof authorizationSchema>;

const tokenSchema = z.object({ grant_type: z.literal(DEVICE_GRANT), device_code: z.string() });

interface IssuerOptions {
  key: TokenKey;
  secret: string;
  now?: () => number;
}

const createMint =
  ({ key, now = Date.now }: IssuerOptions) =>
  ({ login_hint: who, roles, scope }: Grant): Promise<string> => {
    const seconds = Math.floor(now() / 1000);
    return new SignJWT({
      scope,
      auth_time: seconds,
      groups: roles.map((role) => LOCAL_GROUP_PREFIX + role),
      ...(who.includes('@') ? { email: who, email_verified: true } : {}),
    })
      .setProtectedHeader({ alg: key.algorithm, kid: key.kid, typ: 'at+jwt' })
      .setIssuer(LOCAL_ISSUER)
      .setAudience(LOCAL_AUDIENCE)
      .setSubject(who.includes('@') ? who : `dev:${who}`)
      .setJti(randomUUID())
      .setIssuedAt(seconds)
      .setExpirationTime(seconds + TOKEN_SECONDS)
      .sign(key.privateKey);
  };

export const createIssuer = (options: IssuerOptions): Hono => {
  const { key, secret, now = Date.now } = options;
  const mint = createMint(options);
  const granted = new Map<string, { grant: Grant; untilMs: number }>();
  const app = new Hono();

  app.get('/.well-known/openid-configuration', (c) => {
    const { origin } = new URL(c.req.url);
    return c.json({
      issuer: LOCAL_ISSUER,
      jwks_uri: `${origin}/jwks.json`,
      device_authorization_endpoint: `${origin}/device`,
      token_endpoint: `${origin}/token`,
      response_types_supported: ['token'],
      subject_types_supported: ['public'],
      grant_types_supported: [DEVICE_GRANT],
      id_token_signing_alg_values_supported: [key.algorithm],
    });
  });

  app.get('/jwks.json', (c) => c.json({ keys: [key.publicJwk] }));

  app.post('/device', async (c) => {
    const [, given] = /^Bearer (.+)$/.exec(c.req.header('authorization') ?? '') ?? [];
    if (!sameSecret(given, secret)) return c.json({ error: 'invalid_client' }, 401);
    const request = authorizationSchema.safeParse(await c.req.parseBody());
    if (!request.success) {
      return c.json({ error: 'invalid_request', error_description: z.prettifyError(request.error) }, 400);
    }
    const deviceCode = randomUUID();
    granted.set(deviceCode, { grant: request.data, untilMs: now() + CODE_SECONDS * 1000 });
    for (const code of [...granted.keys()].slice(0, -MAX_CODES)) granted.delete(code);
    return c.json({
      device_code: deviceCode,
      user_code: 'LOCAL',
      verification_uri: LOCAL_ISSUER,
      expires_in: CODE_SECONDS,
      interval: 1,
    });
  });

  app.post('/token', async (c) => {
    const request = tokenSchema.safeParse(await c.req.parseBody());
    if (!request.success) return c.json({ error: 'unsupported_grant_type' }, 400);
    const { device_code: code } = request.data;
    const found = granted.get(code);
    granted.delete(code);
    if (found === undefined) return c.json({ error: 'invalid_grant' }, 400);
    if (found.untilMs < now()) return c.json({ error: 'expired_token' }, 400);
    return c.json({
      access_token: await mint(found.grant),
      token_type: 'Bearer',
      expires_in: TOKEN_SECONDS,
      scope: found.grant.scope,
    });
  });

  return app;
};
