/** The frame of every page. */
import { html } from 'hono/html';
import { printableLine } from '../../present/text.ts';
import type { Markup } from './markup.ts';
import { form, NOTHING, shown } from './markup.ts';

export interface Page {
  title: string;
  body: Markup;
  /** What the page shows, as the functions answered it. This is its JSON twin. */
  data: unknown;
  /** Reloads itself after this time, while something moves. */
  refreshSeconds?: number;
  /** For content side by side. */
  isWide?: true;
  /** The place that the page belongs to, when its address is that of another place. */
  place?: string;
}

export interface Viewer {
  name: string;
  isVerified: boolean;
  /** The token of the form for signing out, where people sign in with the browser. */
  signOut?: string;
}

const PLACES = [
  ['/', 'Sessions'],
  ['/queue', 'Queue'],
  ['/sagas', 'Sagas'],
  ['/ledger', 'Ledger'],
  ['/catalog', 'Catalog'],
  ['/search', 'Search'],
] as const;

const isHere = (place: string, at: string): boolean =>
  place === '/' ? at === '/' || at.startsWith('/sessions') : at.startsWith(place);

/** `instead`: for an answer to a form, the address that back and reload lead to. */
export const frame = (
  { title, body, refreshSeconds, isWide, place: own }: Page,
  at: string,
  viewer: Viewer,
  instead?: string,
): Markup =>
  html`<!doctype html>
<html lang="en"${refreshSeconds === undefined ? NOTHING : html` data-refresh="${refreshSeconds}"`}${instead === undefined ? NOTHING : html` data-instead="${instead}"`}>
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
${refreshSeconds === undefined ? NOTHING : html`<noscript><meta http-equiv="refresh" content="${refreshSeconds}" /></noscript>`}
<meta name="color-scheme" content="light dark" />
<title>${printableLine(title)} · Walkback</title>
<link rel="stylesheet" href="/style.css" />
<script src="/console.js" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header><nav aria-label="Main"><a class="brand" href="/">Walkback</a>${PLACES.map(
    ([place, name]) =>
      html`<a href="${place}"${isHere(place, own ?? at) ? html` aria-current="page"` : ''}${place === '/queue' ? html` data-count="/queue/count?format=json"` : NOTHING}>${name}</a>`,
  )}</nav><p class="viewer">${shown(viewer.name)}${viewer.isVerified ? '' : ' (a claim)'}</p>${viewer.signOut === undefined ? NOTHING : form('/auth/sign-out', viewer.signOut, {}, html`<button type="submit">Sign out</button>`)}</header>
<main id="main" tabindex="-1"${isWide === true ? html` class="wide"` : NOTHING}><h1>${printableLine(title)}</h1>
${body}
</main>
</body>
</html>`;
