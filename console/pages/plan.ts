/** A rollback: first the plan, then exactly that plan, then the way back from it. */
import { html } from 'hono/html';
import type { RollbackAnswer } from '../../contract/rollback-answers.ts';
import { plural } from '../../core/shared/plural.ts';
import type { Act, Elsewhere, Show, Visit } from '../context.ts';
import { standingPart } from '../parts/effects.ts';
import { form, link, type Markup, NOTHING, path, query, shown } from '../parts/markup.ts';
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

interface Target {
  sessionId: string;
  message?: string | undefined;
  checkpoint?: string | undefined;
}

const targetOf = ({ message, checkpoint }: Target) =>
  checkpoint === undefined || checkpoint === '' ? { messageId: message ?? '' } : { checkpointId: checkpoint };

const makePlan = ({ ask, by }: Visit, target: Target, requestId: string): Promise<RollbackAnswer> =>
  ask('rollback', { sessionId: target.sessionId, ...targetOf(target), requestId, by, dryRun: true });

const planBody = (
  plan: RollbackAnswer,
  { sessionId, message }: Target,
  visit: Visit,
  requestId: string,
): Markup =>
  html`<p>Back to ${shown(message === undefined || message === '' ? plan.checkpointId : message)}. All repositories, or none. A checkpoint of what is there now is taken first, so that it can be undone.</p>
  ${warningsPart(plan.warnings)}
  ${repositoriesPart(plan.repositories)}
  ${standingPart(plan.effects)}
  ${plan.discardedMessageIds.length === 0 ? NOTHING : html`<p>${plural(plan.discardedMessageIds.length, 'message')} would be left behind: ${plan.discardedMessageIds.slice(0, 20).map((id) => html`${shown(id)} `)}</p>`}
  <div class="acts">${form(
    path('sessions', sessionId, 'rollback'),
    visit.formToken,
    // The exact checkpoint of the plan: the message may have another one by the time of the rollback.
    { message, checkpoint: plan.checkpointId, request: requestId, digest: digestOf(plan) },
    html`<button class="main" type="submit">Roll back exactly this</button>`,
  )}${link(path('sessions', sessionId), 'Cancel')}</div>`;

const planPage = async (visit: Visit, target: Target, before?: string): Promise<Page> => {
  const requestId = `console-${crypto.randomUUID()}`;
  const plan = await makePlan(visit, target, requestId);
  return {
    title: 'Rollback: the plan',
    body: html`${refusedPart(before, digestOf(plan))}${planBody(plan, target, visit, requestId)}`,
    data: plan,
  };
};

const donePage = async (
  { ask }: Visit,
  { sessionId, message }: Target,
  done: RollbackAnswer,
): Promise<Page> => ({
  title: 'Rolled back',
  body: html`<p class="card done" role="status">All repositories were put back to what they were at ${shown(message || done.checkpointId)}.</p>${await movedSince(ask, sessionId, done)}
    ${standingPart(done.effects)}${doneFiles(sessionId, done)}`,
  data: done,
});

/** When a request was done, its plan is what it did. `confirmed`: the digest of a plan that no longer holds. */
export const showPlan: Show = async (visit) => {
  const { message, checkpoint, request, confirmed } = visit.query;
  const target = { sessionId: visit.params['id'] ?? '', message, checkpoint };
  const done = request ? await makePlan(visit, target, request) : undefined;
  return done?.status === 'APPLIED' ? donePage(visit, target, done) : planPage(visit, target, confirmed);
};

export const rollBack: Act = async (sent) => {
  const { message, checkpoint = '', request = '', digest = '' } = sent.fields;
  const sessionId = sent.params['id'] ?? '';
  const at = (more: Readonly<Record<string, string>>): Elsewhere => ({
    location: `${path('sessions', sessionId, 'plan')}${query({ message, checkpoint, ...more })}`,
  });
  const act = async (): Promise<Elsewhere> => {
    // The request of the rollback itself: once it is done, its plan is what it did.
    const now = await makePlan(sent, { sessionId, checkpoint }, request);
    if (now.status === 'APPLIED') return at({ request });
    const isAsConfirmed = digestOf(now) === digest || (await isBegun(sent.ask, sessionId, request));
    if (!isAsConfirmed) return at({ confirmed: digest });
    const { by } = sent;
    const { epoch } = now;
    await sent.ask('rollback', { sessionId, checkpointId: checkpoint, requestId: request, epoch, by });
    return at({ request });
  };
  return unlessOvertaken(sent, act, at({ request, confirmed: digest }));
};
