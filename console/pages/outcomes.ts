/** Pages for outcomes without a page of their own: a call that failed, or that is not over. */
import { html } from 'hono/html';
import { httpStatusOf } from '../../contract/http-status.ts';
import { adviceOf, type Failure, messageOf } from '../failure-words.ts';
import { formAgain, link, NOTHING, shown, time } from '../parts/markup.ts';
import type { Page } from '../parts/page.ts';

/** The status of a page for this error. Work that goes on also has a page, which says so. */
export const pageStatusOf = (name: string): PageStatus => {
  const status = httpStatusOf(name);
  return PAGE_STATUSES.find((one) => one === status) ?? 502;
};

const PAGE_STATUSES = [200, 202, 400, 401, 403, 404, 405, 409, 413, 429, 502, 503] as const;
export type PageStatus = (typeof PAGE_STATUSES)[number];

const PLACES: Readonly<Record<string, string>> = { sessions: 'session', sagas: 'saga' };

/** From a page about a session or a saga, the way to that itself. */
const backPart = (at: string) => {
  const [, place = '', id = ''] = /^\/(sessions|sagas)\/([^/]+)\//.exec(at) ?? [];
  const name = PLACES[place];
  return name === undefined ? NOTHING : html`<p><a href="/${place}/${id}">Back to the ${name}</a></p>`;
};

/** `again`: where to sign in, when that is what is missing. `at`: the address that was asked for. */
export const failurePage = ({ name, message }: Failure, again?: string, at = ''): Page => ({
  title: 'That did not work',
  body: html`<section class="card stop" role="alert"><p>${shown(messageOf({ name, message }))}</p>${
    again === undefined
      ? html`${adviceOf(name) === undefined ? NOTHING : html`<p class="hint">What to do: ${adviceOf(name)}</p>`}`
      : html`<p>${link(again, 'Sign in again')}</p>`
  }<p class="meta">Error <code>${shown(name)}</code></p></section>${backPart(at)}`,
  data: { error: { name, message } },
});

/** A page that is shown while somebody else works on the session. It reloads itself until that is over. */
export const waitingPage = (failure: Failure): Page => {
  const { data } = failurePage(failure);
  return {
    title: 'Somebody else is at work',
    body: html`<section class="card" role="status"><p>${shown(messageOf(failure))}</p><p class="hint">This page looks again by itself, and shows then what is so.</p></section>`,
    data,
    refreshSeconds: 2,
  };
};

/** Reloads itself until there is an end. */
export const goingPage = ({ since }: { since: Date }, doing: string, now: Date): Page => {
  const seconds = Math.max(0, Math.round((now.getTime() - since.getTime()) / 1000));
  return {
    title: `${doing} …`,
    body: html`<p class="card" role="status">Since ${time(since.toISOString(), 'near')}, for ${seconds} s. This page looks again by itself. The work goes on if you leave the page.</p>`,
    data: { isDone: false, doing, since: since.toISOString() },
    refreshSeconds: 1,
  };
};

/** The work goes on in the function that was called; the next look asks there. */
export const askedPage = (doing: string): Page => ({
  title: `${doing} …`,
  body: html`<p class="card" role="status">It takes longer than one answer may. This page looks again by itself. The work goes on if you leave the page.</p>`,
  data: { isDone: false, doing },
  refreshSeconds: 1,
});

/**
 * The work goes on in the function that was called, but the process that serves the next look knows nothing
 * of this one. Sending the same form again joins the work by its request id.
 */
export const stillPage = (action: string, doing: string, fields: Readonly<Record<string, string>>): Page => ({
  title: `${doing} …`,
  body: html`<section class="card warn" role="status"><p>It takes longer than one answer may. It goes on, also when you leave this page.</p>
    ${formAgain(action, fields, html`<button class="main" type="submit">Look whether it is done</button>`)}</section>`,
  data: { isDone: false, doing },
});
