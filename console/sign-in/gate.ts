/**
 * The gate of the deployed console: people sign in at the issuer of the stack. It owns two cookies. One holds
 * what the last sign-ins began with, for ten minutes. The other holds who is signed in, until the token
 * expires or the person signs out. Both are sealed, so no page and no script gets a token. A sign-in always
 * makes a new second cookie, whatever cookies were sent.
 */

import { randomBytes } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { html } from 'hono/html';
import * as z from 'zod';
import { HOUR_SECONDS } from '../../contract/times.ts';
import type { PersonCalls } from '../../core/people/call-as.ts';
import type { SignIn } from '../../core/people/sign-in.ts';
import type { SignOuts } from '../../core/people/sign-outs.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { sameSecret } from '../../core/shared/same-secret.ts';
import { fieldsOf } from '../form.ts';
import { type ConsoleEnv, formTokenOf, type Gate, headers } from '../gate.ts';
import { frame } from '../parts/page.ts';
import { LOOK_HEADER } from '../parts/script.ts';
import { ownPath } from './own-path.ts';
import type { Seal } from './seal.ts';

/** Browsers accept cookies with this prefix only from our own host, over TLS, for all paths. */
const SESSION = '__Host-walkback';
const BEGUN = '__Host-walkback-sign-in';

const BEGUN_SECONDS = 600;
/** Most tabs of a browser that may be at the issuer at the same time. */
const MOST_BEGUN = 3;
/**
 * Longest way back, as it is stored, so that those of all tabs fit into one cookie. A longer one is replaced
 * by the first page.
 */
const MAX_WAY_BACK = 600;
/**
 * Longest way back in the state of a sign-in, for a tab whose beginning the browser has lost: two that began
 * at once wrote the same cookie.
 */
const MAX_NOTED = 200;
/** A browser that keeps no cookies is told so, and not redirected again and again. */
const MOST_TRIES = 3;
/** A working day, even if the token lasts longer. */
const LONGEST_SECONDS = 8 * HOUR_SECONDS;
/** What browsers store of one cookie, including its name and attributes. */
const MAX_COOKIE_BYTES = 3_900;

const COOKIE = { httpOnly: true, secure: true, path: '/', sameSite: 'Lax' } as const;

const begunSchema = z.object({
  all: z.array(
    z.object({
      state: z.string(),
      nonce: z.string(),
      verifier: z.string(),
      to: z.string(),
      untilMs: z.number(),
    }),
  ),
});
const sessionSchema = z.object({ id: z.string(), token: z.string(), name: z.string() });

interface SignInGateOptions {
  signIn: SignIn;
  calls: PersonCalls;
  seal: Seal;
  signOuts: SignOuts;
  now?: () => Date;
}

/** When the token expires. It was verified before. */
const endOf = (token: string): number => {
  const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  return z.object({ exp: z.number() }).parse(claims).exp * 1000;
};

/** Measured as it is stored: some letters take two characters. */
const isShort = (to: string, most: number): boolean => JSON.stringify(to).length <= most;

interface PendingSignIn {
  to: string;
  tries: number;
}

const noteOf = ({ to, tries }: PendingSignIn): string =>
  Buffer.from(JSON.stringify([tries, isShort(to, MAX_NOTED) ? to : '/'])).toString('base64url');

const noteSchema = z.tuple([z.int().min(1), z.string()]);

/** Anybody may have written this text. Undefined: it is not a note of ours. */
const notedIn = (state: string | undefined): PendingSignIn | undefined => {
  try {
    const note = Buffer.from(state?.split('.')[1] ?? '', 'base64url').toString();
    const [tries, to] = noteSchema.parse(JSON.parse(note));
    return { to: ownPath(to), tries };
  } catch {
    return undefined;
  }
};

const originOf = (c: Context): string => new URL(c.req.url).origin;

/**
 * A page that reloads itself is not led to the sign-in: each reload would begin another sign-in, in the place
 * of the one that the person is at.
 */
const wantsPage = (c: Context): boolean =>
  c.req.query('format') === undefined &&
  c.req.header(LOOK_HEADER) === undefined &&
  (c.req.header('accept') ?? '').includes('text/html');

/** Only accepts requests from the origin to which they were sent, which the gateway knows. */
const sameOrigin: MiddlewareHandler = async (c, next) => {
  const from = c.req.header('origin');
  if (from === undefined || from === originOf(c)) return next();
  return c.text('Only this console, at its own address, is answered.', 403);
};

export const createSignInGate = ({
  signIn,
  calls,
  seal,
  signOuts,
  now = () => new Date(),
}: SignInGateOptions): Gate => {
  const keep = async (c: Context, name: string, value: Record<string, unknown>, untilMs: number) => {
    const text = await seal.seal(name, value, untilMs);
    if (text.length > MAX_COOKIE_BYTES) {
      const message = `The token of the issuer is too large for a cookie (${text.length} bytes sealed). Let it hold the groups of Walkback only.`;
      throw new WalkbackError('ConfigurationError', message);
    }
    setCookie(c, name, text, { ...COOKIE, maxAge: Math.floor((untilMs - now().getTime()) / 1000) });
  };

  const kept = async <T>(c: Context, name: string, schema: z.ZodType<T>): Promise<T | undefined> => {
    const text = getCookie(c, name);
    const found = text === undefined ? undefined : schema.safeParse(await seal.open(name, text));
    return found?.data;
  };

  /** The newest one is last. */
  const begunIn = async (c: Context) => {
    const found = await kept(c, BEGUN, begunSchema);
    return found?.all.filter(({ untilMs }) => untilMs > now().getTime()) ?? [];
  };

  /** The session of the person who is signed in. */
  const sessionIn = async (c: Context) => {
    const session = await kept(c, SESSION, sessionSchema);
    return session === undefined || (await signOuts.has(session.id)) ? undefined : session;
  };

  const begin = async (c: Context) => {
    const redirectUri = `${originOf(c)}/auth/callback`;
    const asked = ownPath(c.req.query('to'));
    const to = isShort(asked, MAX_WAY_BACK) ? asked : '/';
    const tries = Number(c.req.query('tries') ?? '1') || MOST_TRIES;
    const again = c.req.query('again') === 'yes';
    const { url, begun } = await signIn.begin({ redirectUri, again, note: noteOf({ to, tries }) });
    const untilMs = now().getTime() + BEGUN_SECONDS * 1000;
    const others = (await begunIn(c)).slice(1 - MOST_BEGUN);
    await keep(c, BEGUN, { all: [...others, { ...begun, to, untilMs }] }, untilMs);
    c.header('cache-control', 'no-store');
    return c.redirect(url, 302);
  };

  const finish = async (c: Context) => {
    const all = await begunIn(c);
    const answered = all.find(({ state }) => state === c.req.query('state'));
    const noted = answered === undefined ? notedIn(c.req.query('state')) : undefined;
    if (noted !== undefined && (await sessionIn(c)) !== undefined) return c.redirect(noted.to, 303);
    if (noted !== undefined && noted.tries < MOST_TRIES) {
      const more = new URLSearchParams({ to: noted.to, tries: String(noted.tries + 1) });
      return c.redirect(`/auth/sign-in?${more.toString()}`, 303);
    }
    const others = all.filter((one) => one !== answered);
    // A sign-in that we never began is refused with the library's message.
    const found = answered ?? all.at(-1);
    const last = others.at(-1);
    if (last === undefined) deleteCookie(c, BEGUN, COOKIE);
    else await keep(c, BEGUN, { all: others }, last.untilMs);
    if (found === undefined) {
      throw new WalkbackError(
        'ProofInvalid',
        'This browser began no sign-in, or began it more than ten minutes ago.',
      );
    }
    const { to, untilMs: _, ...begun } = found;
    const token = await signIn.finish(new URL(c.req.url), begun);
    const { name } = await calls.identify(token);
    const endMs = Math.min(endOf(token), now().getTime() + LONGEST_SECONDS * 1000);
    await keep(c, SESSION, { id: randomBytes(32).toString('base64url'), token, name }, endMs);
    c.header('cache-control', 'no-store');
    return c.redirect(ownPath(to), 303);
  };

  const end = async (c: Context) => {
    const session = await kept(c, SESSION, sessionSchema);
    const { form_token: given } = await fieldsOf(c);
    if (session !== undefined && !sameSecret(given, formTokenOf(session.id))) {
      return c.text('This form belongs to another console session.', 403);
    }
    // Copies of the cookie stop working too. If this cannot be stored, nobody is told that they are signed
    // out.
    if (session !== undefined) await signOuts.add(session.id, now().getTime() + LONGEST_SECONDS * 1000);
    deleteCookie(c, SESSION, COOKIE);
    return c.redirect('/auth/signed-out', 303);
  };

  const signedOut = async (c: Context) => {
    if ((await sessionIn(c)) !== undefined) return c.redirect('/', 303);
    const page = {
      title: 'Signed out',
      body: html`<p>You are signed out here. The issuer may still know this browser.</p><p><a href="/auth/sign-in">Sign in</a></p>`,
      data: { signedOut: true },
    };
    c.header('cache-control', 'no-store');
    return c.html(frame(page, '/auth', { name: 'nobody is signed in', isVerified: true }));
  };

  return {
    headers: headers({ isEncrypted: true }),
    sameOrigin,
    addRoutes: (app) => {
      app.get('/auth/sign-in', begin);
      app.get('/auth/callback', finish);
      app.post('/auth/sign-out', end);
      app.get('/auth/signed-out', signedOut);
    },
    signInAgain: (path) => `/auth/sign-in?${new URLSearchParams({ again: 'yes', to: path }).toString()}`,
    signedIn: async (c: Context<ConsoleEnv>, next) => {
      const session = await sessionIn(c);
      if (session === undefined) {
        const { pathname, search } = new URL(c.req.url);
        if (!wantsPage(c))
          return c.json({ error: { name: 'ProofRequired', message: 'Sign in first.' } }, 401);
        // A form is never sent again without the person's knowledge.
        if (c.req.method !== 'GET')
          throw new WalkbackError('ProofRequired', 'You are not signed in any more. Nothing was done.');
        return c.redirect(`/auth/sign-in?${new URLSearchParams({ to: pathname + search }).toString()}`, 302);
      }
      const { id, token, name } = session;
      c.set('visitor', {
        ask: (called, input) => calls.call(token, called, { ...input }),
        viewer: { name, isVerified: true, signOut: formTokenOf(id) },
        by: name,
        formToken: formTokenOf(id),
      });
      return next();
    },
  };
};
