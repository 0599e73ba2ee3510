/**
 * The OIDC issuer of the embedded cloud. Anybody who can read the keys of the cloud can sign in as anybody.
 * So its tokens are marked (`dev`): they show who somebody claimed to be, not who it was. A terminal signs in
 * by the device flow (RFC 8628), a browser by authorization code. The secret of the cloud takes the place of
 * what a person would be asked for.
 */
import { createHmac } from 'node:crypto';
import { Hono } from 'hono';
import * as z from 'zod';
import { sameSecret } from '../../core/shared/same-secret.ts';
import { addBrowserFlow } from './browser-flow.ts';
import { createCodes } from './codes.ts';
import { type Grant, grantSchema } from './grant.ts';
import type { TokenKey } from './keys.ts';
import { createMint, LOCAL_ISSUER, TOKEN_SECONDS } from './mint.ts';

const CODE_SECONDS = 600;
const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const CODE_GRANT = 'authorization_code';

/** The secret that gives access to the issuer. It is derived, so that nothing more must be stored. */
export const loginSecret = (secretAccessKey: string): string =>
  createHmac('sha256', secretAccessKey).update('login').digest('hex');

const deviceTokenSchema = z.object({ grant_type: z.literal(DEVICE_GRANT), device_code: z.string() });

interface IssuerOptions {
  key: TokenKey;
  secret: string;
  now?: () => number;
}

export const createIssuer = (options: IssuerOptions): Hono => {
  const { key, secret, now = Date.now } = options;
  const mint = createMint({ key, now });
  const granted = createCodes<Grant>({ seconds: CODE_SECONDS, now });
  const app = new Hono();

  app.get('/.well-known/openid-configuration', (c) => {
    const { origin } = new URL(c.req.url);
    return c.json({
      issuer: LOCAL_ISSUER,
      jwks_uri: `${origin}/jwks.json`,
      authorization_endpoint: `${origin}/authorize`,
      device_authorization_endpoint: `${origin}/device`,
      token_endpoint: `${origin}/token`,
      token_endpoint_auth_methods_supported: ['none'],
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      grant_types_supported: [CODE_GRANT, DEVICE_GRANT],
      code_challenge_methods_supported: ['S256'],
      id_token_signing_alg_values_supported: [key.algorithm],
    });
  });

  app.get('/jwks.json', (c) => c.json({ keys: [key.publicJwk] }));

  app.post('/device', async (c) => {
    const [, given] = /^Bearer (.+)$/.exec(c.req.header('authorization') ?? '') ?? [];
    if (!sameSecret(given, secret)) return c.json({ error: 'invalid_client' }, 401);
    const request = grantSchema.safeParse(await c.req.parseBody());
    if (!request.success) {
      return c.json({ error: 'invalid_request', error_description: z.prettifyError(request.error) }, 400);
    }
    return c.json({
      device_code: granted.add(request.data),
      user_code: 'LOCAL',
      verification_uri: LOCAL_ISSUER,
      expires_in: CODE_SECONDS,
      interval: 1,
    });
  });

  const redeem = addBrowserFlow(app, { secret, now, mint });

  app.post('/token', async (c) => {
    const form = await c.req.parseBody();
    if (form['grant_type'] === CODE_GRANT) return redeem(c, form);
    const request = deviceTokenSchema.safeParse(form);
    if (!request.success) return c.json({ error: 'unsupported_grant_type' }, 400);
    const found = granted.take(request.data.device_code);
    if (found === undefined) return c.json({ error: 'invalid_grant' }, 400);
    if (found === 'expired') return c.json({ error: 'expired_token' }, 400);
    return c.json({
      access_token: await mint.access(found),
      token_type: 'Bearer',
      expires_in: TOKEN_SECONDS,
      scope: found.scope,
    });
  });

  return app;
};
