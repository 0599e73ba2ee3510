/** Who may look: one person of this machine, who came by a link that works once. */
import { createHmac, randomBytes } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { secureHeaders } from 'hono/secure-headers';
import { sameSecret } from '../local/e2b/guard.ts';

const COOKIE = 'walkback_console';

/** Nothing but our own style is loaded, nothing is sent but to ourselves, and no other page holds ours in a frame. */
export const headers = (): MiddlewareHandler =>
  secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      styleSrc: ["'self'"],
      formAction: ["'self'"],
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
    },
    xFrameOptions: 'DENY',
    // Without any, browsers send forms with the origin `null`.
    referrerPolicy: 'same-origin',
    crossOriginResourcePolicy: 'same-origin',
    crossOriginOpenerPolicy: 'same-origin',
    // It is served without TLS, on loopback.
    strictTransportSecurity: false,
  });

export interface Gate {
  /** Refuses other hosts and origins (DNS rebinding, other pages), before anything is looked at. */
  sameOrigin: MiddlewareHandler;
  /** Refuses who has not come in. */
  signedIn: MiddlewareHandler;
  /** Lets in whoever has the link, once. */
  enter: MiddlewareHandler;
  /** Goes into forms. Another page cannot know it. */
  formToken: string;
  isFormToken(given: string | undefined): boolean;
}

/** `token`: of the link. `origin`: where the console is served, once it is known. */
export const createGate = (token: string, origin: () => string): Gate => {
  const session = randomBytes(32).toString('base64url');
  const formToken = createHmac('sha256', session).update('form').digest('base64url');
  let isOpen = true;
  return {
    formToken,
    isFormToken: (given) => sameSecret(given, formToken),
    sameOrigin: async (c, next) => {
      const from = c.req.header('origin');
      const { host } = new URL(origin());
      if (c.req.header('host') !== host || (from !== undefined && from !== origin())) {
        return c.text('Only this console, at its own address, is answered.', 403);
      }
      return next();
    },
    signedIn: async (c, next) => {
      if (sameSecret(getCookie(c, COOKIE), session)) return next();
      return c.text(
        'Open the link that walkback console printed. It works once; start it again for another.',
        401,
      );
    },
    enter: async (c) => {
      if (!isOpen || !sameSecret(c.req.query('token'), token)) {
        return c.text('This link does not work, or was used. Start walkback console again.', 401);
      }
      isOpen = false;
      setCookie(c, COOKIE, session, { httpOnly: true, sameSite: 'Strict', path: '/' });
      return c.redirect('/');
    },
  };
};
