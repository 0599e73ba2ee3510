/** A rollback: first the plan, then exactly that plan, then the way back from it. */
import { html } from 'hono/html';
import type { RollbackAnswer } from '../../contract/rollback-answers.ts';
import { plural } from '../../core/shared/plural.ts';
import type { Act, Elsewhere, Show, Visit } from '../context.ts';
import { failedData } from '../further.ts';
import {
  backBody,
  backPath,
  backScope,
  CONFIRM_FORM,
  linesPart,
  linesTo,
  pageTitle,
} from '../parts/back-frame.ts';
import { standingPart } from '../parts/effects.ts';
import { form, NOTHING, path, shown } from '../parts/markup.ts';
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
import { showRevert } from './revert.ts';
import { showRewind } from './rewind.ts';

interface Target {
  sessionId: string;
  message?: string | undefined;
  checkpoint?: string | undefined;
}

const targetOf = ({ message, checkpoint }: Target) =>
  checkpoint === undefined || checkpoint === '' ? { messageId: message ?? '' } : { checkpointId: checkpoint };

const makePlan = ({ ask, by }: Visit, target: Target, requestId: string): Promise<RollbackAnswer> =>
  ask('rollback', { sessionId: target.sessionId, ...targetOf(target), requestId, by, dryRun: true });

const planPage = async (visit: Visit, target: Target, before?: string): Promise<Page> => {
  const requestId = `console-${crypto.randomUUID()}`;
  const plan = await makePlan(visit, target, requestId);
  const { sessionId, message } = target;
  const moved = plan.repositories.filter(({ action }) => action !== 'unchanged');
  const [{ title, untitled }, lines] = await Promise.all([
    pageTitle(visit, target, 'Go back to'),
    moved.length === 0 ? undefined : linesTo(visit, sessionId, plan.checkpointId),
  ]);
  const left = plan.discardedMessageIds.length;
  const body = html`${refusedPart(before, digestOf(plan))}${untitled}${warningsPart(plan.warnings)}
    ${standingPart(plan.effects)}
    ${repositoriesPart(plan.repositories)}
    ${left === 0 ? NOTHING : html`<p>${plural(left, 'later message')} would be left behind. The undo brings ${left === 1 ? 'it' : 'them'} back.</p>`}
    ${lines === undefined ? NOTHING : linesPart(lines, target, plan.checkpointId)}
    ${form(
      path('sessions', sessionId, 'rollback'),
      visit.formToken,
      // The exact checkpoint of the plan: the message may have another one by the time of the rollback.
      { message, checkpoint: plan.checkpointId, request: requestId, digest: digestOf(plan) },
      NOTHING,
      CONFIRM_FORM,
    )}`;
  const what = 'A checkpoint of what is there now is taken first, so that this can be undone.';
  return {
    title,
    body: backBody(target, 'files', { body, button: 'Roll back exactly this', what }),
    data: { ...plan, ...failedData({ lines: lines ?? {} }) },
    isWide: true,
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
const showRollback: Show = async (visit) => {
  const { message, checkpoint, request, confirmed } = visit.query;
  const target = { sessionId: visit.params['id'] ?? '', message, checkpoint };
  const done = request ? await makePlan(visit, target, request) : undefined;
  return done?.status === 'APPLIED' ? donePage(visit, target, done) : planPage(visit, target, confirmed);
};

/** The plan of what the person chose to go back. */
export const showPlan: Show = (visit) => {
  const scope = backScope(visit.query['scope']);
  if (scope === 'files') return showRollback(visit);
  return scope === 'message' ? showRevert(visit) : showRewind(visit);
};

export const rollBack: Act = async (sent) => {
  const { message, checkpoint = '', request = '', digest = '' } = sent.fields;
  const sessionId = sent.params['id'] ?? '';
  const at = (more: Readonly<Record<string, string>>): Elsewhere => ({
    location: backPath({ sessionId, message, checkpoint }, 'files', more),
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
