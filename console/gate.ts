/** Decides who may look: one person of this machine, who came by a link that works once. */
import { createHmac, randomBytes } from 'node:crypto';
import type { Context, Hono, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { secureHeaders } from 'hono/secure-headers';
import { sameSecret } from '../core/shared/same-secret.ts';
import type { Ask } from './context.ts';
import type { Viewer } from './parts/page.ts';

/** Browsers share cookies between all ports of a host, and two consoles must not sign each other out. */
const cookieAt = (origin: string): string => `walkback_console_${new URL(origin).port}`;

/** Who looks at a page, and how the page calls functions for them. */
export interface Visitor {
  ask: Ask;
  viewer: Viewer;
  /** Who acts, as a claim, when there is no proof. */
  by: string;
  /** Goes into forms. Other pages cannot know it. */
  formToken: string;
}

export interface ConsoleEnv {
  Variables: { visitor?: Visitor };
}

/** Decides who may look. Every page is behind a gate. */
export interface Gate {
  headers: MiddlewareHandler;
  /** Refuses other hosts and origins (DNS rebinding, other pages) before anything else is looked at. */
  sameOrigin: MiddlewareHandler;
  /** Its own routes, which are open to everybody. */
  addRoutes(app: Hono<ConsoleEnv>): void;
  /** Refuses anyone who is not signed in, and sets the visitor for everyone else. */
  signedIn: MiddlewareHandler<ConsoleEnv>;
  /** Where a person signs in again, to return to a page. Absent: not in the browser. */
  signInAgain?: (path: string) => string;
}

/** The token of forms, made from a value that only this visitor's cookie has. */
export const formTokenOf = (session: string): string =>
  createHmac('sha256', session).update('form').digest('base64url');

/** Only our own style and script are loaded, forms go only to us, and no other page can show ours in a frame. */
export const headers = ({ isEncrypted }: { isEncrypted: boolean }): MiddlewareHandler =>
  secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      styleSrc: ["'self'"],
      scriptSrc: ["'self'"],
      connectSrc: ["'self'"],
      formAction: ["'self'"],
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
    },
    xFrameOptions: 'DENY',
    // Without a referrer policy, browsers send forms with the origin `null`.
    referrerPolicy: 'same-origin',
    crossOriginResourcePolicy: 'same-origin',
    crossOriginOpenerPolicy: 'same-origin',
    strictTransportSecurity: isEncrypted ? 'max-age=63072000' : false,
  });

/**
 * Lets one person of this machine in. `token`: that of the link. `origin`: where the console is served, once
 * that is known.
 */
export const createGate = (
  token: string,
  origin: () => string,
  visitor: Omit<Visitor, 'formToken'>,
): Gate => {
  const session = randomBytes(32).toString('base64url');
  const formToken = formTokenOf(session);
  let isOpen = true;
  const hasCookie = (c: Context): boolean => sameSecret(getCookie(c, cookieAt(origin())), session);
  return {
    // It is served without TLS, on loopback.
    headers: headers({ isEncrypted: false }),
    sameOrigin: async (c, next) => {
      const from = c.req.header('origin');
      const { host } = new URL(origin());
      if (c.req.header('host') !== host || (from !== undefined && from !== origin())) {
        return c.text('Only this console, at its own address, is answered.', 403);
      }
      return next();
    },
    signedIn: async (c, next) => {
      if (hasCookie(c)) {
        c.set('visitor', { ...visitor, formToken });
        return next();
      }
      return c.text(
        'Open the link that walkback console printed. It works once; start it again for another.',
        401,
      );
    },
    addRoutes: (app) => {
      app.get('/enter', (c) => {
        // A person who came in by the link has it in the browser's history, and may open it again.
        if (hasCookie(c)) return c.redirect('/');
        if (!isOpen || !sameSecret(c.req.query('token'), token)) {
          return c.text('This link does not work, or was used. Start walkback console again.', 401);
        }
        isOpen = false;
        setCookie(c, cookieAt(origin()), session, { httpOnly: true, sameSite: 'Strict', path: '/' });
        return c.redirect('/');
      });
    },
  };
};
