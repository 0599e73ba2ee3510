/** Where to go after a sign-in: a page of ours, whatever the link says. */

const ORIGIN = 'https://console.invalid';

/** The path and query, or the first page when it would lead elsewhere or back to the sign-in. */
export const ownPath = (given: string | undefined): string => {
  if (given === undefined || !given.startsWith('/') || !URL.canParse(given, ORIGIN)) return '/';
  const { origin, pathname, search } = new URL(given, ORIGIN);
  // `//host`, `/\host` and the like are other hosts to a browser.
  if (origin !== ORIGIN || pathname.startsWith('//') || pathname.startsWith('/auth/')) return '/';
  return pathname + search;
};
