/**
 * Rewinds a session: effects first, then files, then the conversation. First the plan, then exactly that
 * plan.
 */
import { html } from 'hono/html';
import type { RewindAnswer, RewoundSaga, SessionRewind } from '../../contract/rewind.ts';
import { REWIND_SCOPES } from '../../contract/rewind-scopes.ts';
import { standsIn } from '../../core/rewind/count-effects.ts';
import { sha256Hex } from '../../core/shared/ids.ts';
import { plural } from '../../core/shared/plural.ts';
import { sagaTitle } from '../../present/saga-words.ts';
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
import { choice } from '../parts/choice.ts';
import { badge, form, link, type Markup, NOTHING, path, said, shown } from '../parts/markup.ts';
import type { Page } from '../parts/page.ts';
import {
  digestOf,
  doneFiles,
  refusedPart,
  repositoriesPart,
  unlessOvertaken,
  warningsPart,
} from '../parts/plan-parts.ts';
import { residueTick, undoPlanTable, whyField } from '../parts/undo-plan.ts';

/** One call waits this long, and is then repeated. */
const WAIT_SECONDS = 20;

const inputOf = (
  { by, params }: Visit,
  given: Readonly<Record<string, string | undefined>>,
): SessionRewind => {
  const { message = '', checkpoint, scope, guidance, residue, reason, request } = given;
  const told = guidance?.trim();
  const why = reason?.trim();
  return {
    sessionId: params['id'] ?? '',
    to:
      message === '' && checkpoint
        ? { checkpointId: checkpoint }
        : { messageId: message, ...(checkpoint && { checkpointId: checkpoint }) },
    scope: scope ? choice('scope', scope, REWIND_SCOPES) : 'all',
    requestId: request ?? `console-${crypto.randomUUID()}`,
    by,
    ...(told ? { guidance: told } : {}),
    ...(residue === 'accepted' ? { acceptResidue: true } : {}),
    ...(why ? { reason: why } : {}),
  };
};

/** A plan that would take back or leave anything else has another digest. */
const digest = ({ epoch, residue, sagas, sagasNotListed, files }: RewindAnswer): string =>
  sha256Hex(
    JSON.stringify([
      epoch ?? null,
      // Also of what the page has no room for.
      residue ?? null,
      sagas.map(({ sagaId, after, plan }) => [sagaId, after, plan]),
      sagasNotListed ?? null,
      files === undefined ? null : digestOf(files),
    ]),
  );

/** The plan does not name what is left of such a saga: only people can take that back. */
const isStopped = (status: RewoundSaga['status']): boolean => status === 'COMPENSATION_FAILED';

const sagaPart = (saga: RewoundSaga): Markup => {
  const { sagaId, status, after, plan } = saga;
  return html`<section class="card${plan.stands.length > 0 || isStopped(status) ? ' stop' : ''}"><h3>${link(path('sagas', sagaId), sagaTitle(saga))} ${badge(status)}${after === null ? NOTHING : html` <span class="meta">stays up to step ${shown(after)}</span>`}</h3>
    ${undoPlanTable(`What saga ${sagaId} did`, plan, isStopped(status) ? '' : 'Nothing is left to take back.')}${isStopped(status) ? html`<p>An effect of it could not be undone before. The rewind stops here, before any file is touched, until ${link('/queue', 'the queue')} has settled it.</p>` : NOTHING}</section>`;
};

const notListedPart = ({ sagasNotListed }: RewindAnswer): Markup =>
  sagasNotListed === undefined
    ? NOTHING
    : html`<p class="cut">And ${plural(sagasNotListed.sagas, 'more saga')}, for which there is no room here.</p>`;

const pointOf = ({ to }: SessionRewind) =>
  'messageId' in to ? { message: to.messageId } : { checkpoint: to.checkpointId };

const planPage = async (visit: Visit, input: SessionRewind, before?: string): Promise<Page> => {
  const plan = await visit.ask('rewind', { ...input, dryRun: true });
  const { sagas, files } = plan;
  const { sessionId } = input;
  const stand = standsIn(plan);
  const point = { sessionId, ...pointOf(input) };
  const scope = input.scope ?? 'all';
  const isMoved = files?.repositories.some(({ action }) => action !== 'unchanged') === true;
  const [{ title, untitled }, lines] = await Promise.all([
    pageTitle(visit, point, 'Go back to'),
    isMoved ? linesTo(visit, sessionId, files.checkpointId) : undefined,
  ]);
  const hidden = {
    ...pointOf(input),
    // The very checkpoint of the plan: a message may have got another one by then.
    ...(plan.checkpointId !== undefined && { checkpoint: plan.checkpointId }),
    scope,
    request: input.requestId,
    digest: digest(plan),
  };
  const body = html`${refusedPart(before, digest(plan))}${untitled}
    ${scope === 'conversation' ? NOTHING : html`<h2>Effects</h2>${sagas.length === 0 ? html`<p class="empty">No saga goes back.</p>` : sagas.map((one) => sagaPart(one))}${notListedPart(plan)}`}
    ${files === undefined ? NOTHING : html`<h2>Files</h2>${warningsPart(files.warnings)}${repositoriesPart(files.repositories)}${lines === undefined ? NOTHING : linesPart(lines, point, files.checkpointId)}`}
    ${form(
      path('sessions', sessionId, 'rewind'),
      visit.formToken,
      hidden,
      html`<label for="guidance">Guidance for the way on (optional)</label><textarea id="guidance" name="guidance" maxlength="4000">${input.guidance ?? ''}</textarea>
      ${residueTick(stand, 'go back', whyField('reason', true, input.reason))}`,
      CONFIRM_FORM,
    )}`;
  const what = 'When an effect cannot be undone, everything stops, and files are untouched.';
  return {
    title,
    body: backBody(point, scope, { body, button: 'Rewind exactly this', what }),
    data: { ...plan, ...failedData({ lines: lines ?? {} }) },
    isWide: true,
  };
};

/** The page keeps the text that was written. Looking again confirms nothing. */
const busyPage = ({ formToken }: Visit, input: SessionRewind): Page => ({
  title: 'Somebody else is at work',
  body: html`<section class="card warn" role="alert"><p>Somebody else is at work on this session. Nothing was done.</p>
    ${form(
      path('sessions', input.sessionId, 'rewind'),
      formToken,
      {
        ...pointOf(input),
        scope: input.scope,
        request: input.requestId,
        guidance: input.guidance,
        reason: input.reason,
      },
      html`<button class="main" type="submit">Look again</button>`,
    )}</section>`,
  data: { isDone: false, doing: 'Rewinding' },
});

/** `confirmed`: the digest of a plan that no longer holds. */
export const showRewind: Show = (visit) =>
  planPage(visit, inputOf(visit, visit.query), visit.query['confirmed']);

const HEADS: Readonly<Record<RewindAnswer['status'], string>> = {
  PLANNED: 'Planned',
  UNDOING: 'Still undoing',
  STOPPED: 'Stopped: an effect could not be undone, and files are untouched',
  REWOUND: 'Rewound',
  CANCELLED: 'Given up by a cancel',
};

/** A repeated request answers how far the rewind is. */
const untilThrough = async ({ ask }: Visit, input: SessionRewind): Promise<RewindAnswer> => {
  for (;;) {
    const answer = await ask('rewind', { ...input, waitSeconds: WAIT_SECONDS });
    if (answer.status !== 'UNDOING') return answer;
  }
};

export const rewind: Act = async (sent) => {
  const input = inputOf(sent, sent.fields);
  const { message, checkpoint, scope, digest: confirmed = '' } = sent.fields;
  /** An address is kept in logs and in the history of the browser: nothing that a person wrote stands in it. */
  const again = async (): Promise<Elsewhere | Page> =>
    input.guidance === undefined && input.reason === undefined
      ? {
          location: backPath({ sessionId: input.sessionId, message, checkpoint }, backScope(scope || 'all'), {
            confirmed,
          }),
        }
      : ((await unlessOvertaken(sent, () => planPage(sent, input, confirmed), undefined)) ??
        busyPage(sent, input));
  const now = await unlessOvertaken(sent, () => sent.ask('rewind', { ...input, dryRun: true }), undefined);
  // A rewind that has begun goes on, whatever is left of its plan.
  if (now === undefined || (now.status === 'PLANNED' && digest(now) !== confirmed)) return again();
  const { epoch, residue } = now;
  const shownPlan = {
    ...(epoch === undefined ? {} : { epoch }),
    ...(residue !== undefined && input.acceptResidue === true ? { residue } : {}),
  };
  // From here on, only a decision in another epoch means that nothing has begun.
  const through = () => untilThrough(sent, { ...input, ...shownPlan });
  const done = await unlessOvertaken({ isOvertaken: sent.isStale }, through, undefined);
  if (done === undefined) return again();
  const { status, sagas, files, guidance, trimAfterMessageId } = done;
  const isThrough = status === 'REWOUND';
  return {
    title: HEADS[status],
    body: html`<p class="card ${isThrough ? 'done' : 'stop'}" role="status">${HEADS[status]}. ${
      isThrough && trimAfterMessageId != null
        ? html`The conversation goes on after ${shown(trimAfterMessageId)}.`
        : NOTHING
    }${isThrough ? NOTHING : html` ${link('/queue', 'The queue')} has what is left; then the same rewind goes on from the session. What nothing takes back is let stand by another rewind.`}</p>
      ${guidance === undefined ? NOTHING : html`<p>Guidance: ${said(guidance)}</p>`}
      ${sagas.map((one) => sagaPart(one))}${notListedPart(done)}
      ${files === undefined ? html`<p>${link(path('sessions', input.sessionId), 'Back to the session')}</p>` : doneFiles(input.sessionId, files)}`,
    data: done,
  };
};
