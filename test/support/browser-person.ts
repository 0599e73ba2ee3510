/** A person with a browser, without one: keeps cookies, follows nothing by itself, and fills in forms. */
import type { Cloud } from '../../local/cloud.ts';

export interface Visited {
  status: number;
  headers: Headers;
  text: string;
}

export interface BrowserPerson {
  cookies: Map<string, string>;
  /** What `set-cookie` said, in full. */
  setCookies: string[];
  get(url: string, headers?: Record<string, string>): Promise<Visited>;
  post(url: string, form: Record<string, string>, headers?: Record<string, string>): Promise<Visited>;
}

const isGone = (text: string): boolean => /; *Max-Age=0(?:;|$)/i.test(text);

export const createBrowserPerson = (): BrowserPerson => {
  const cookies = new Map<string, string>();
  const setCookies: string[] = [];
  const visit = async (url: string, init: RequestInit): Promise<Visited> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = new Headers(init.headers);
    if (cookie !== '') headers.set('cookie', cookie);
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const text of response.headers.getSetCookie()) {
      setCookies.push(text);
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
      if (isGone(text)) cookies.delete(name);
      else cookies.set(name, value);
    }
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return {
    cookies,
    setCookies,
    get: (url, headers = {}) => visit(url, { headers: { accept: 'text/html', ...headers } }),
    post: (url, form, headers = {}) =>
      visit(url, {
        method: 'POST',
        headers: { accept: 'text/html', origin: new URL(url).origin, ...headers },
        body: new URLSearchParams(form),
      }),
  };
};

/** Where an answer sends the browser. */
export const locationOf = ({ headers }: Visited): string => headers.get('location') ?? '';

/** Fields that a form of the page has already. */
export const hiddenIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(
      ([, name = '', value = '']) => [
        name,
        value.replaceAll('&amp;', '&').replaceAll('&#39;', "'").replaceAll('&quot;', '"'),
      ],
    ),
  );

interface Who {
  /** The page that was asked for first. */
  path?: string;
  name?: string;
  roles?: string;
}

type Served = Pick<Cloud, 'endpoints' | 'environment'>;

/** Fills in the page of the local issuer. Answers where it sends the browser back to. */
export const fillIn = async (
  { endpoints, environment }: Served,
  authorize: string,
  { name = 'rita@example.com', roles = 'reviewer operator' }: Who = {},
): Promise<string> => {
  const issuer = createBrowserPerson();
  const asked = await issuer.get(authorize);
  const secret = environment['WALKBACK_LOGIN_SECRET'] ?? '';
  const form = { ...hiddenIn(asked.text), login_hint: name, roles, secret };
  return locationOf(await issuer.post(`${endpoints.identity}/authorize`, form));
};

/** From a page of the console to the issuer, and to the address that leads back. */
export const goToIssuer = async (cloud: Served, person: BrowserPerson, who: Who = {}): Promise<string> => {
  const at = cloud.endpoints.api;
  const turned = await person.get(at + (who.path ?? '/'));
  const begun = await person.get(new URL(locationOf(turned), at).href);
  return fillIn(cloud, locationOf(begun), who);
};

export const signInWithBrowser = async (cloud: Served, who: Who = {}) => {
  const person = createBrowserPerson();
  const back = await person.get(await goToIssuer(cloud, person, who));
  return { person, status: back.status, location: locationOf(back) };
};
