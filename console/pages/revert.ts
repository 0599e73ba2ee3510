/**
 * Takes back what one message changed, and keeps what came later: first the plan with its conflicts, then
 * exactly that plan.
 */
import { html } from 'hono/html';
import type { ChangesAnswer } from '../../contract/change-answers.ts';
import type { RollbackAnswer } from '../../contract/rollback-answers.ts';
import type { Act, Elsewhere, Show, Visit } from '../context.ts';
import { roomFor } from '../diff/markup.ts';
import { type Further, failedData, failedPart, further } from '../further.ts';
import { backBody, backPath, CONFIRM_FORM, pageTitle } from '../parts/back-frame.ts';
import { callsPart } from '../parts/calls.ts';
import { form, list, type Markup, NOTHING, path, said, shown } from '../parts/markup.ts';
import type { Page } from '../parts/page.ts';
import {
  digestOf,
  doneFiles,
  isBegun,
  movedSince,
  refusedPart,
  repositoriesPart,
  unlessOvertaken,
  warningsPart,
} from '../parts/plan-parts.ts';

const makePlan = (
  { ask, by }: Visit,
  sessionId: string,
  messageId: string,
  requestId: string,
): Promise<RollbackAnswer> => ask('revert', { sessionId, messageId, requestId, by, dryRun: true });

/** Each plan captures the present, so its checkpoint has another id each time. */
const digest = (plan: RollbackAnswer): string => digestOf({ ...plan, checkpointId: '' });

/** What the message changed, as it was kept. Where that has expired, the plan still names every path. */
const changesOf = (visit: Visit, sessionId: string, messageId: string): Promise<Further<ChangesAnswer>> =>
  further(visit, visit.ask('changes', { sessionId, messageId }));

const changesShown = (messageId: string, changes: Further<ChangesAnswer>): Markup => {
  const changed = (changes.read?.checkpoints ?? []).filter(({ repositories }) => repositories.length > 0);
  // No checkpoint is the head here: nothing of what comes next is taken back.
  const look = { room: roomFor(), messageId, headSeq: 0 };
  return changed.length === 0
    ? failedPart('What it changed', changes, 'The paths above are what changes.')
    : html`<h2>What it changed, and what is taken back</h2>${callsPart(changed, look)}`;
};

const revertPage = async (
  visit: Visit,
  sessionId: string,
  message: string,
  before?: string,
): Promise<Page> => {
  const request = `console-${crypto.randomUUID()}`;
  const point = { sessionId, message };
  const plan = await makePlan(visit, sessionId, message, request);
  const [{ title, untitled }, changes] = await Promise.all([
    pageTitle(visit, point, 'Take back'),
    changesOf(visit, sessionId, message),
  ]);
  const { conflicts = [] } = plan;
  const isPossible = conflicts.length === 0;
  const body = html`${refusedPart(before, digest(plan))}${untitled}
    ${warningsPart(plan.warnings)}
    ${
      isPossible
        ? NOTHING
        : html`<section class="card stop"><h2>It cannot be taken back alone</h2><p>Later work changed the same places. Nothing would be written.</p>${list(
            conflicts
              .slice(0, 50)
              .map((one) => html`${shown(`${one.repository}/${one.path}`)}: ${said(one.message)}`),
          )}</section>`
    }
    ${repositoriesPart(plan.repositories)}${changesShown(message, changes)}
    ${isPossible ? form(path('sessions', sessionId, 'revert'), visit.formToken, { message, request, digest: digest(plan) }, NOTHING, CONFIRM_FORM) : NOTHING}`;
  const button = isPossible ? 'Take back exactly this' : undefined;
  return {
    title,
    body: backBody(point, 'message', { body, button }),
    data: { ...plan, ...failedData({ changes }) },
    isWide: true,
  };
};

const donePage = async (
  { ask }: Visit,
  sessionId: string,
  message: string,
  done: RollbackAnswer,
): Promise<Page> => ({
  title: 'Taken back',
  body: html`<p class="card done" role="status">What ${shown(message)} changed was taken back, and later work was kept.</p>${await movedSince(ask, sessionId, done)}${doneFiles(sessionId, done)}`,
  data: done,
});

/** When a request was done, its plan is what it did. `confirmed`: the digest of a plan that no longer holds. */
export const showRevert: Show = async (visit) => {
  const { message = '', request, confirmed } = visit.query;
  const sessionId = visit.params['id'] ?? '';
  const done = request ? await makePlan(visit, sessionId, message, request) : undefined;
  return done?.status === 'APPLIED'
    ? donePage(visit, sessionId, message, done)
    : revertPage(visit, sessionId, message, confirmed);
};

export const revert: Act = async (sent) => {
  const { message = '', request = '', digest: confirmed = '' } = sent.fields;
  const sessionId = sent.params['id'] ?? '';
  const at = (more: Readonly<Record<string, string>>): Elsewhere => ({
    location: backPath({ sessionId, message }, 'message', more),
  });
  const act = async (): Promise<Elsewhere> => {
    const now = await makePlan(sent, sessionId, message, request);
    if (now.status === 'APPLIED') return at({ request });
    const isAsConfirmed = digest(now) === confirmed || (await isBegun(sent.ask, sessionId, request));
    if (!isAsConfirmed) return at({ confirmed });
    const { by } = sent;
    const { epoch } = now;
    await sent.ask('revert', { sessionId, messageId: message, requestId: request, epoch, by });
    return at({ request });
  };
  // When a rollback left the message behind meanwhile, the page of the plan says so.
  const isOvertaken = (error: unknown): boolean => sent.isOvertaken(error) || sent.isLeftBehind(error);
  return unlessOvertaken({ isOvertaken }, act, at({ request, confirmed }));
};
