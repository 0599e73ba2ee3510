/**
 * Sagas: a list with those that need a person first, and the page of one with its steps, its tree, its locks
 * and its ledger.
 */
import { html } from 'hono/html';
import type { AnswerOf } from '../../contract/functions.ts';
import { type Observation, SAGA_STATUSES } from '../../contract/saga-observation.ts';
import { plural } from '../../core/shared/plural.ts';
import { nextForPeople } from '../../present/saga-next.ts';
import { notListedTexts, provenText, sagaTitle } from '../../present/saga-words.ts';
import type { Show, Visit } from '../context.ts';
import { failedData, failedPart, further } from '../further.ts';
import { alertPart } from '../parts/alert.ts';
import { approvalsPart } from '../parts/approvals.ts';
import { byHandForm, effectFields } from '../parts/by-hand.ts';
import { choice } from '../parts/choice.ts';
import { entryRows, money } from '../parts/ledger-tables.ts';
import {
  badge,
  facts,
  ident,
  link,
  type Markup,
  NOTHING,
  path,
  query,
  said,
  shown,
  table,
  time,
} from '../parts/markup.ts';
import type { Page } from '../parts/page.ts';
import { answerPart, repairsPart } from '../parts/saga-acts.ts';
import { axisPart } from '../parts/saga-axis.ts';
import { stepName, stepsPart } from '../parts/saga-steps.ts';
import { waitPart } from '../parts/waits.ts';
import { showLedger, verdict, verified } from './ledger.ts';

const ROWS = 200;

export const showSagas: Show = async ({ ask, query: { status, cursor } }) => {
  const known = status ? choice('status', status, SAGA_STATUSES) : undefined;
  const answer = await ask('list-sagas', {
    subject: true,
    ...(known === undefined ? {} : { status: known }),
    ...(cursor === undefined ? {} : { cursor }),
  });
  const filters = html`<form class="filters" method="get" action="/sagas"><div><label for="status">Status</label>
    <select id="status" name="status"><option value="">all, those that need a person first</option>${SAGA_STATUSES.map(
      (one) =>
        html`<option value="${one}"${one === known ? html` selected` : ''}>${one.toLowerCase().replaceAll('_', ' ')}</option>`,
    )}</select></div><button type="submit">Show</button></form>`;
  const rows = table(
    'Sagas',
    [
      { title: 'Saga', cell: (one) => link(path('sagas', one.sagaId), sagaTitle(one)) },
      { title: 'Status', cell: (one) => badge(one.status) },
      { title: 'Steps', isNumber: true, cell: ({ started, steps }) => `${started} of ${steps}` },
      { title: 'Asked for by', cell: ({ requestedBy }) => shown(requestedBy) },
      {
        title: 'Session',
        cell: ({ sessionId, messageId }) =>
          sessionId === undefined
            ? NOTHING
            : link(`${path('sessions', sessionId)}${query({ message: messageId })}`, sessionId),
      },
      { title: 'Turned back by', cell: ({ failure }) => shown(failure) },
      { title: 'Last change', cell: ({ updatedAt }) => time(updatedAt) },
      { title: 'Id', cell: ({ sagaId }) => ident(sagaId) },
    ],
    answer.sagas,
    'No saga.',
  );
  const more =
    answer.cursor === undefined
      ? NOTHING
      : html`<p class="acts"><a class="button" href="/sagas${query({ status: known, cursor: answer.cursor })}">More sagas</a></p>`;
  return { title: 'Sagas', body: html`${filters}${rows}${more}`, data: answer };
};

const notListedPart = (seen: Observation): Markup => {
  const { committedNotListed = 0, compensatedNotListed = 0, notCompensatedNotListed = 0 } = seen;
  const count = committedNotListed + compensatedNotListed + notCompensatedNotListed;
  return count === 0
    ? NOTHING
    : html`<p class="cut">Cut here: ${committedNotListed} more stand, ${compensatedNotListed} more were undone, ${notCompensatedNotListed} more were not. ${link(`/ledger${query({ saga: seen.sagaId })}`, 'All entries')} have them.</p>`;
};

/** What somebody let stand can be undone by hand at any time, whatever the saga does then. */
const acceptedPart = (seen: Observation, { formToken }: Visit): Markup => {
  // A step that runs sagas is not an effect of its own.
  const accepted = seen.notCompensated.filter((one) => one.accepted === true && one.children !== true);
  return accepted.length === 0
    ? NOTHING
    : html`<h2>Left standing</h2><p class="hint">Somebody accepted that ${accepted.length === 1 ? 'this stays' : 'these stay'}, and nothing is to be done. What is undone by hand after all is recorded here.</p>
      ${accepted.map(
        (
          one,
        ) => html`<section class="card"><h3>${stepName(one)}: ${shown(one.tool)} ${money(one.amount, one.currency)}</h3>
        <p>${said(one.reason)}</p>${byHandForm(formToken, effectFields(seen, one))}</section>`,
      )}`;
};

type Child = NonNullable<Observation['children']>[number];

const isBelow = (one: Child, above: string): boolean => one.path.startsWith(`${above}/`);

/** The sagas directly below `above`, each with those below it. */
const treeOf = (children: readonly Child[], above: string | undefined): Markup => {
  const here = children.filter((one) => above === undefined || isBelow(one, above));
  const top = here.filter((one) => !here.some((other) => other !== one && isBelow(one, other.path)));
  return top.length === 0
    ? NOTHING
    : html`<ul class="tree">${top.map(
        (one) =>
          html`<li>${shown(above === undefined ? one.path : one.path.slice(above.length + 1))} ${badge(one.status)} ${link(path('sagas', one.sagaId), one.sagaId)} <span class="meta">${shown(one.definition)}${one.sealed === false ? ' provisional' : ''} ${shown(one.failure)} ${notListedTexts(one).join(' · ')}</span>${treeOf(here, one.path)}</li>`,
      )}</ul>`;
};

type Locks = AnswerOf<'list-locks'>;

const locksPart = ({ locks, cursor }: Locks): Markup =>
  locks.length === 0
    ? NOTHING
    : html`<h2>Locks</h2>${table(
        'Resources that it holds',
        [
          { title: 'Resource', cell: ({ resourceKey }) => shown(resourceKey) },
          { title: 'Since', cell: ({ since }) => time(since) },
          { title: 'Fencing token', isNumber: true, cell: ({ fencingToken }) => fencingToken },
          {
            title: 'Waiting',
            cell: ({ waiting }) => html`${waiting.map((one) => html`${link(path('sagas', one), one)} `)}`,
          },
        ],
        locks,
        '',
      )}${cursor === undefined ? NOTHING : html`<p class="cut">Cut here, after the first ${plural(locks.length, 'lock')}. The ledger has all that were taken.</p>`}`;

const statePart = (seen: Observation, formToken: string): Markup =>
  html`${seen.guidance === undefined ? NOTHING : html`<p class="card warn">${shown(seen.guidance.by)}, ${shown(provenText(seen.guidance.proof))}, says: ${said(seen.guidance.text)}</p>`}
  ${seen.awaiting === undefined ? NOTHING : html`<section class="card warn"><h2>Waits for an approval</h2><p>${shown(seen.awaiting.tool)}${seen.awaiting.amount === undefined ? NOTHING : html` ${money(seen.awaiting.amount, seen.awaiting.currency)}`}, until ${time(seen.awaiting.until, 'clock')}</p>${answerPart(seen, seen.awaiting, formToken)}</section>`}
  ${(seen.awaitingBelow ?? []).map((one) => html`<p class="card warn">${link(path('sagas', one.sagaId), one.sagaId)} waits for an approval of ${shown(one.tool)}, until ${time(one.until, 'clock')}. <a href="/queue${query({ saga: one.sagaId })}">Answer it in the queue</a></p>`)}
  ${seen.awaitingBelowNotListed === undefined ? NOTHING : html`<p class="card warn">${plural(seen.awaitingBelowNotListed, 'more approval is', 'more approvals are')} waited for below, in <a href="/queue">the queue</a></p>`}
  ${seen.failed === undefined ? NOTHING : html`<section class="card stop"><h2>Turned back</h2><p>${seen.failed.step == null ? NOTHING : html`${shown(seen.failed.step)}: `}${shown(seen.failed.error.name)}: ${said(seen.failed.error.message)}</p>${seen.failed.by === undefined ? NOTHING : html`<p>by ${shown(seen.failed.by)}, ${shown(provenText(seen.failed.proof))}: ${said(seen.failed.reason ?? 'no reason given')}</p>`}</section>`}
  ${waitPart(seen)}
  ${alertPart(seen)}
  <p class="hint">${shown(nextForPeople(seen))}</p>
  ${seen.status === 'COMPENSATION_FAILED' ? html`<section class="card stop"><h2>Not undone</h2>${repairsPart(seen, formToken)}</section>` : NOTHING}`;

/**
 * The functions answer nothing else about a saga that is not as it was written. This page shows its entries
 * as they are stored, and what is wrong with them.
 */
const brokenPage = async (visit: Visit, sagaId: string, message: string): Promise<Page> => {
  const request = { sagaId, limit: ROWS };
  // An entry may be so damaged that it is not answered at all.
  const stored = await visit.ask('query-ledger', request).catch((error: unknown) => {
    if (visit.brokenBy(error) !== undefined) return undefined;
    throw error;
  });
  const { entries = [] } = stored ?? {};
  const check = await verified(visit, sagaId);
  return {
    title: `Saga ${sagaId}`,
    body: html`${verdict(check, message)}
      <p class="hint">Nothing else is told of it, because it might not be true.</p>
      <h2>Ledger, as it is stored now</h2>${entryRows(entries)}
      ${stored?.cursor === undefined ? NOTHING : html`<p class="cut">Cut here, after the first ${plural(entries.length, 'entry', 'entries')}: ${link(`/ledger${query({ saga: sagaId })}`, 'all entries')}.</p>`}`,
    data: { broken: message, entries, check },
    isWide: true,
  };
};

export const showSaga: Show = async (visit) => {
  const sagaId = visit.params['id'] ?? '';
  try {
    return await sagaPage(visit, sagaId);
  } catch (error) {
    // Finance may see only a saga's ledger, but all pages of the ledger link to sagas.
    if (visit.isForbidden(error)) return showLedger({ ...visit, query: { saga: sagaId } });
    const message = visit.brokenBy(error);
    if (message === undefined) throw error;
    return brokenPage(visit, sagaId, message);
  }
};

const sagaPage = async (visit: Visit, sagaId: string): Promise<Page> => {
  const { ask } = visit;
  const [seen, { entries = [], cursor }, held] = await Promise.all([
    ask('describe-saga', { sagaId, subject: true }),
    ask('query-ledger', { sagaId, limit: ROWS }),
    further<Locks>(visit, ask('list-locks', { sagaId })),
  ]);
  const ledger = `/ledger${query({ saga: sagaId })}`;
  const isOver = seen.doing === undefined && seen.awaiting === undefined && seen.status !== 'PARKED';
  const check = cursor === undefined ? await verified(visit, sagaId) : undefined;
  const body = html`${facts([
    ['Status', badge(seen.status)],
    ['Template', shown(seen.definition ?? 'no template')],
    ['Id', ident(sagaId)],
    ['Asked for by', shown(seen.requestedBy)],
    ...(seen.project === undefined ? [] : [['Project', shown(seen.project)] as const]),
    ['Began', time(seen.createdAt)],
    ['Last change', time(seen.updatedAt)],
    ...(seen.parent === undefined
      ? []
      : [['A step of', link(path('sagas', seen.parent.sagaId), seen.parent.sagaId)] as const]),
  ])}
  ${statePart(seen, visit.formToken)}
  <h2>Steps</h2>${stepsPart(seen, entries)}${notListedPart(seen)}
  ${axisPart(entries, isOver, visit.now())}
  ${seen.status === 'COMPLETED' && seen.parent === undefined ? html`<p><a class="button" href="${path('sagas', sagaId, 'undo')}">Undo it: the plan first</a></p>` : NOTHING}
  ${approvalsPart(seen)}${acceptedPart(seen, visit)}
  ${seen.children === undefined || seen.children.length === 0 ? NOTHING : html`<h2>Sagas below</h2><div class="card">${treeOf(seen.children, undefined)}${seen.childrenNotListed === undefined ? NOTHING : html`<p class="cut">Cut here: ${plural(seen.childrenNotListed, 'more saga')} below. Their ledgers have what they did.</p>`}</div>`}
  ${failedPart('Its locks', held)}${locksPart(held.read ?? { locks: [] })}
  <h2>Ledger</h2>${check !== undefined ? verdict(check) : html`<p>${link(ledger, 'Verify it, and show all entries')}</p>`}
  ${entryRows(entries)}
  ${cursor === undefined ? NOTHING : html`<p class="cut">Cut here, after the first ${plural(entries.length, 'entry', 'entries')}: ${link(ledger, 'all entries')}.</p>`}`;
  return {
    title: sagaTitle(seen),
    body,
    data: {
      saga: seen,
      entries,
      cursor,
      locks: held.read?.locks ?? [],
      locksCursor: held.read?.cursor,
      check,
      ...failedData({ locks: held }),
    },
    isWide: true,
    ...(seen.doing === undefined || seen.doing.what === 'waiting' ? {} : { refreshSeconds: 5 }),
  };
};
