/** Pages for outcomes without a page of their own: a call that failed, or that is not over. */
import { html } from 'hono/html';
import { type ErrorName, errorRow } from '../../contract/errors.ts';
import { statusOf } from '../../contract/http-status.ts';
import { formAgain, link, shown, time } from '../parts/markup.ts';
import type { Page } from '../parts/page.ts';
import { withoutCommands } from '../parts/without-commands.ts';

export interface Failure {
  name: string;
  message: string;
}

/** The status of a page for this error. Work that goes on also has a page, which says so. */
export const pageStatusOf = (name: string): PageStatus => {
  const status = statusOf(name);
  return PAGE_STATUSES.find((one) => one === status) ?? 502;
};

const PAGE_STATUSES = [200, 202, 400, 401, 403, 404, 405, 409, 413, 429, 502, 503] as const;
export type PageStatus = (typeof PAGE_STATUSES)[number];

/** An error that is not ours is an internal mistake: its name and text are not shown to anybody. */
export const told = (failure: Failure): Failure =>
  errorRow(failure.name) === undefined
    ? { name: 'InternalError', message: 'Something went wrong inside Walkback. Load the page again.' }
    : failure;

const SAGA_PAGE = 'the page of the saga shows where it stands';
const TIMELINE = 'the page of the session shows its messages and checkpoints';
const OTHER_CHECKPOINT = 'choose another checkpoint: the page of the session lists them';
/** A remedy that no page offers. */
const FRESH_SANDBOX = 'whoever runs the agent can bring the session back in a fresh sandbox';
const BY_HAND =
  'the queue has the forms: retry, undone by hand, or left standing, for each step that is left';

/** What to do on a page, for errors whose advice names a command that a page can replace. */
const ON_PAGES: Readonly<Partial<Record<ErrorName, string>>> = {
  InvalidInput: 'go back, and mend what the message names',
  SessionNotFound: 'the page Sessions lists them',
  SessionEnded:
    'the page of the session opens a review copy of a message; the page Sessions lists those that run',
  MessageNotFound: TIMELINE,
  CheckpointNotFound: TIMELINE,
  IncompleteTarget:
    'choose another checkpoint: the page of the session says what each misses. Whoever runs the agent can restore the rest of this one',
  BundleMissing: `${OTHER_CHECKPOINT}. Whoever runs Walkback has to look at the bucket`,
  BundleCorrupt: `${OTHER_CHECKPOINT}. Whoever runs Walkback has to look at the bucket`,
  SandboxNotFound: `the page of the session opens a review copy; ${FRESH_SANDBOX}`,
  RollbackInProgress: 'wait until it is done: the page of the session says whether one is at work',
  RollbackIncomplete: `send the form again, which goes on with it, or ${FRESH_SANDBOX}`,
  SagaNotFound: 'the page Sagas lists them',
  StepNotFound: 'the page of the saga lists its steps',
  AnswerConflict:
    'look at it again: the queue shows what is asked now, the page of the saga what was answered',
  OperationConflict:
    'look at it again: the page of the saga shows what became of the step, and who decided it',
  OperationRefused: SAGA_PAGE,
  SagaNotInteractive: `it has a plan: ${SAGA_PAGE}`,
  PointOfNoReturn: 'plan it again: the tick and the reason there leave standing what the message names',
  ChildFailed: BY_HAND,
  CompensationBlocked: BY_HAND,
  CompensationFailed: BY_HAND,
};

const onPages = (name: string): string | undefined =>
  new Map<string, string>(Object.entries(ON_PAGES)).get(name);

const adviceOf = (name: string): string | undefined => onPages(name) ?? errorRow(name)?.advice;

/** When the page says what to do, the message need not name a command. */
const messageOf = ({ name, message }: Failure): string =>
  onPages(name) === undefined ? message : withoutCommands(message);

/** `again`: where to sign in, when that is what is missing. */
export const failurePage = ({ name, message }: Failure, again?: string): Page => ({
  title: 'That did not work',
  body: html`<section class="card stop" role="alert"><h2>${shown(name)}</h2><p>${shown(messageOf({ name, message }))}</p>${
    again === undefined
      ? html`${adviceOf(name) === undefined ? html`` : html`<p class="hint">What to do: ${adviceOf(name)}</p>`}`
      : html`<p>${link(again, 'Sign in again')}</p>`
  }</section>`,
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
