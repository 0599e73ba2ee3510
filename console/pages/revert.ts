/**
 * Takes back what one message changed, and keeps what came later: first the plan with its conflicts, then
 * exactly that plan.
 */
import { html } from 'hono/html';
import type { RollbackAnswer } from '../../contract/rollback-answers.ts';
import type { Act, Elsewhere, Show, Visit } from '../context.ts';
import { form, link, list, NOTHING, path, query, said, shown } from '../parts/markup.ts';
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

const revertPage = async (
  visit: Visit,
  sessionId: string,
  message: string,
  before?: string,
): Promise<Page> => {
  const request = `console-${crypto.randomUUID()}`;
  const plan = await makePlan(visit, sessionId, message, request);
  const { conflicts = [] } = plan;
  return {
    title: 'Take back one message: the plan',
    body: html`${refusedPart(before, digest(plan))}
      <p>What ${shown(message)} changed is taken back. Later work stays. What sagas did outside is not touched.</p>
      ${warningsPart(plan.warnings)}
      ${
        conflicts.length === 0
          ? NOTHING
          : html`<section class="card stop"><h2>It cannot be taken back alone</h2><p>Later work changed the same places. Nothing would be written.</p>${list(
              conflicts
                .slice(0, 50)
                .map((one) => html`${shown(`${one.repository}/${one.path}`)}: ${said(one.message)}`),
            )}</section>`
      }
      ${repositoriesPart(plan.repositories)}
      <div class="acts">${
        conflicts.length > 0
          ? NOTHING
          : form(
              path('sessions', sessionId, 'revert'),
              visit.formToken,
              { message, request, digest: digest(plan) },
              html`<button class="main" type="submit">Take back exactly this</button>`,
            )
      }${link(path('sessions', sessionId), 'Cancel')}</div>`,
    data: plan,
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
    location: `${path('sessions', sessionId, 'revert')}${query({ message, ...more })}`,
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
  return unlessOvertaken(sent, act, at({ request, confirmed }));
};
