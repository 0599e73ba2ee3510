/**
 * Signs people in with a browser at the local issuer: authorization code, with PKCE required, and back to
 * loopback only. The page asks for a name, which it believes, and for the cloud's secret. So no page of
 * another site and no other user of the machine can sign in.
 */
import { createHash } from 'node:crypto';
import type { Context, Hono } from 'hono';
import { html, raw } from 'hono/html';
import * as z from 'zod';
import { sameSecret } from '../../core/shared/same-secret.ts';
import { createCodes } from './codes.ts';
import { type Grant, grantSchema } from './grant.ts';
import { LOCAL_AUDIENCE, type Mint, TOKEN_SECONDS } from './mint.ts';

const CODE_SECONDS = 60;
/** RFC 8252, section 7.3. */
const LOOPBACK = /^http:\/\/(?:127\.0\.0\.1|localhost):\d+\//;

const requestSchema = z.object({
  response_type: z.literal('code'),
  client_id: z.literal(LOCAL_AUDIENCE),
  redirect_uri: z.url().regex(LOOPBACK),
  scope: z.string(),
  state: z.string().optional(),
  nonce: z.string().optional(),
  code_challenge: z.string().min(43).max(128),
  code_challenge_method: z.literal('S256'),
});
type Request = z.infer<typeof requestSchema>;

const redeemSchema = z.object({
  client_id: z.literal(LOCAL_AUDIENCE),
  code: z.string(),
  redirect_uri: z.string(),
  code_verifier: z.string(),
});

const STYLE = `:root { color-scheme: light dark; --line: #8a929a; --link: light-dark(#2159b8, #8ab6f5); }
body { font: 14px/1.45 system-ui, sans-serif; max-width: 26rem; margin: 3rem auto; padding: 0 1rem; background: light-dark(#fafafa, #121416); color: light-dark(#1c2024, #e3e6e9); }
h1 { font-size: 1.5rem; font-weight: 600; } label { display: block; margin: .75rem 0 0; }
input, button { font: inherit; display: block; width: 100%; box-sizing: border-box; min-height: 2.75rem; margin: .2rem 0 0; padding: .3rem .6rem; border: 1px solid var(--line); border-radius: 5px; background: light-dark(#fff, #181b1e); color: inherit; }
button { margin-top: 1.25rem; background: var(--link); border-color: var(--link); color: light-dark(#fff, #181b1e); font-weight: 500; }
[role=alert] { border-left: 3px solid light-dark(#a3262a, #f2a5a2); padding-left: .75rem; }`;
/** Only exactly this style is accepted. */
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

const page = (request: Request, wrong: boolean) => html`<!doctype html>
<html lang="en"><head><meta charset="utf-8" /><meta name="viewport" content="width=device-width, initial-scale=1" /><title>Sign in · embedded cloud</title><style>${raw(STYLE)}</style></head><body>
<h1>Sign in to the embedded cloud</h1>
<p>It believes who you say to be. Its secret is WALKBACK_LOGIN_SECRET of <code>walkback env</code>.</p>
${wrong ? html`<p role="alert">That is not the secret of this cloud, or no name.</p>` : ''}
<form method="post" action="/authorize">
${Object.entries(request).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value ?? ''}" />`)}
<label>Name or address <input name="login_hint" autocomplete="username" required /></label>
<label>Roles (reviewer, operator, finance) <input name="roles" value="reviewer operator" /></label>
<label>Secret <input name="secret" type="password" autocomplete="current-password" required /></label>
<button type="submit">Sign in</button></form></body></html>`;

interface Deps {
  secret: string;
  now: () => number;
  mint: Mint;
}

/** Adds the page. Answers what a client gets for its code. */
export const addBrowserFlow = (app: Hono, { secret, now, mint }: Deps) => {
  const codes = createCodes<{ request: Request; grant: Grant }>({ seconds: CODE_SECONDS, now });
  const show = (c: Context, request: Request, status: 200 | 401) =>
    c.html(page(request, status === 401), status, {
      'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; frame-ancestors 'none'; base-uri 'none'`,
      'cache-control': 'no-store',
    });

  app.get('/authorize', (c) => {
    const request = requestSchema.safeParse(c.req.query());
    // Nobody is redirected to an address that was not checked.
    return request.success
      ? show(c, request.data, 200)
      : c.text(`invalid_request: ${z.prettifyError(request.error)}`, 400);
  });

  app.post('/authorize', async (c) => {
    const form = await c.req.parseBody();
    const request = requestSchema.safeParse({
      ...form,
      state: form['state'] || undefined,
      nonce: form['nonce'] || undefined,
    });
    if (!request.success) return c.text('invalid_request', 400);
    const grant = grantSchema.safeParse(form);
    const given = form['secret'];
    if (!grant.success || typeof given !== 'string' || !sameSecret(given, secret)) {
      return show(c, request.data, 401);
    }
    const to = new URL(request.data.redirect_uri);
    to.searchParams.set('code', codes.add({ request: request.data, grant: grant.data }));
    if (request.data.state !== undefined) to.searchParams.set('state', request.data.state);
    return c.redirect(to.href, 303);
  });

  return async (c: Context, form: Record<string, unknown>) => {
    const asked = redeemSchema.safeParse(form);
    if (!asked.success) return c.json({ error: 'invalid_request' }, 400);
    const found = codes.take(asked.data.code);
    if (found === undefined || found === 'expired') return c.json({ error: 'invalid_grant' }, 400);
    const challenge = createHash('sha256').update(asked.data.code_verifier).digest('base64url');
    const { request, grant } = found;
    if (challenge !== request.code_challenge || asked.data.redirect_uri !== request.redirect_uri) {
      return c.json({ error: 'invalid_grant' }, 400);
    }
    return c.json({
      access_token: await mint.access(grant),
      id_token: await mint.id(grant, request.nonce),
      token_type: 'Bearer',
      expires_in: TOKEN_SECONDS,
      scope: grant.scope,
    });
  };
};
