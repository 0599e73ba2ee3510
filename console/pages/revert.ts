/** Takes back what one message changed, and keeps what came later: the plan, with conflicts, then exactly that. */
import { html } from 'hono/html';
import type { RollbackAnswer } from '../../contract/rollback-answers.ts';
import type { Act, Show, Visit } from '../context.ts';
import { form, link, list, NOTHING, path, said, shown } from '../parts/markup.ts';
import type { Page } from '../parts/page.ts';
import {
  changedMeanwhile,
  digestOf,
  doneFiles,
  isBegun,
  movedSince,
  repositoriesPart,
  warningsPart,
} from '../parts/plan-parts.ts';

const makePlan = (
  { ask, by }: Visit,
  sessionId: string,
  messageId: string,
  requestId: string,
): Promise<RollbackAnswer> => ask('revert', { sessionId, messageId, requestId, by, dryRun: true });

/** The present is captured for a plan, so its checkpoint has another id each time. */
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
    body: html`${before === undefined || before === digest(plan) ? NOTHING : changedMeanwhile}
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
      }${link(path('sessions', sessionId), 'Leave it')}</div>`,
    data: plan,
  };
};

export const showRevert: Show = (visit) =>
  revertPage(visit, visit.params['id'] ?? '', visit.query['message'] ?? '');

export const revert: Act = async (sent) => {
  const { message = '', request = '', digest: confirmed = '' } = sent.fields;
  const sessionId = sent.params['id'] ?? '';
  const now = await makePlan(sent, sessionId, message, request);
  const isAsConfirmed =
    now.status === 'APPLIED' || digest(now) === confirmed || (await isBegun(sent.ask, sessionId, request));
  if (!isAsConfirmed) return revertPage(sent, sessionId, message, confirmed);
  const moved = await movedSince(sent.ask, sessionId, now);
  const done = await sent.ask('revert', {
    sessionId,
    messageId: message,
    requestId: request,
    by: sent.by,
  });
  return {
    title: 'Taken back',
    body: html`<p class="card done" role="status">What ${shown(message)} changed was taken back, and later work was kept.</p>${moved}${doneFiles(sessionId, done)}`,
    data: done,
  };
};
