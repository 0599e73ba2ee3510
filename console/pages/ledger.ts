/** The ledger: entries, effects with their undo, and totals. Each number links to its rows. */
import { html } from 'hono/html';
import type { VerifiedLedger } from '../../client/ledger.ts';
import { verifyLedger } from '../../client/verify-ledger.ts';
import { EFFECT_STATUSES, type LedgerTotals } from '../../contract/ledger-answers.ts';
import type { LedgerAnswer } from '../../contract/ledger-query.ts';
import { LEDGER_STATUSES, type QueryLedgerInput } from '../../contract/saga-inputs.ts';
import { dayIn, isZone, UTC } from '../../contract/zones.ts';
import { totalsCsv } from '../../core/saga/ledger/csv.ts';
import { createTotals } from '../../core/saga/ledger/totals.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { plural } from '../../core/shared/plural.ts';
import { listSome } from '../../present/text.ts';
import type { Ask, Show, Visit } from '../context.ts';
import { choice } from '../parts/choice.ts';
import { presetsPart } from '../parts/ledger-presets.ts';
import { effectRows, entryRows, totalsPart } from '../parts/ledger-tables.ts';
import { link, list, type Markup, NOTHING, path, query, said, shown } from '../parts/markup.ts';

const PAGE = 100;
/** Most pages of the function that one answer is made from. */
const MOST_PAGES = 40;
/** Most sagas below that are named. */
const MOST_BELOW = 20;

/** Checks a saga together with those below it. */
export const verified = ({ ask, isNotFound }: Visit, sagaId: string): Promise<VerifiedLedger> =>
  verifyLedger((request) => ask('query-ledger', request), sagaId, isNotFound);

/** `told`: the message of the function that refused to answer anything else. */
export const verdict = ({ ok, findings, entries, sagaIds }: VerifiedLedger, told?: string): Markup => {
  if (ok && told === undefined) {
    return html`<p class="card done" role="status"><strong>As it was written.</strong> ${plural(entries, 'entry', 'entries')} of ${plural(sagaIds.length, 'saga')}: the chain, the head and the tree agree.</p>`;
  }
  return html`<section class="card stop" role="alert"><h2>Not as it was written</h2>${ok && told !== undefined ? html`<p>${said(told)}</p>` : NOTHING}${list(
    findings
      .slice(0, 50)
      .map(({ sagaId: saga, where, message }) => html`${shown(saga)}, ${shown(where)}: ${said(message)}`),
  )}</section>`;
};

/** The zone whose days and times are shown. */
const zoneOf = (asked: Visit['query']): string => {
  const { zone: name } = asked;
  if (!name) return UTC;
  if (isZone(name)) return name;
  throw new WalkbackError('InvalidInput', 'zone: is no time zone; give a name, as Europe/Berlin.');
};

const isByUndo = (asked: Visit['query']): boolean => Boolean(asked['undone_from'] || asked['undone_to']);

const VIEWS = { entries: 'entries', effects: 'effects, each with its undo', totals: 'totals' } as const;
type View = keyof typeof VIEWS;
const viewOf = (view: string | undefined): View =>
  view ? choice('view', view, ['entries', 'effects', 'totals']) : 'entries';

const SHOWN_STATUSES = [
  'committed',
  'rejected',
  'unknown',
  'failed',
  'blocked',
  'resolved',
  'skipped',
  'approved',
  'declined',
];

const statusesOf = (view: View): readonly string[] => (view === 'entries' ? SHOWN_STATUSES : EFFECT_STATUSES);

/** The status filter. An address may have any; the form has those of the view that was shown before. */
const statusFor = (view: View, asked: string | undefined): QueryLedgerInput['status'] => {
  if (!asked) return undefined;
  const status = choice('status', asked, LEDGER_STATUSES);
  const isShown = [SHOWN_STATUSES, EFFECT_STATUSES].flat().includes(status);
  return isShown && !statusesOf(view).includes(status) ? undefined : status;
};

/** What is requested from the function: a saga, else a reference, else days (today if none are given). */
const ledgerRequest = (asked: Visit['query'], now: Date): QueryLedgerInput => {
  const { saga, ref, key, from, to, tool, agent, reference, doubt } = asked;
  const today = dayIn(zoneOf(asked), now.toISOString());
  const { undone_from: undoneFrom, undone_to: undoneTo } = asked;
  const undone = { ...(undoneFrom ? { undoneFrom } : {}), ...(undoneTo ? { undoneTo } : {}) };
  const view = viewOf(asked['view']);
  const status = statusFor(view, asked['status']);
  const which = saga
    ? { sagaId: saga }
    : ref
      ? { externalRef: ref }
      : key && view === 'entries'
        ? { idempotencyKey: key }
        : view !== 'entries' && isByUndo(asked)
          ? { ...(from ? { from } : {}), ...(to ? { to } : {}), ...undone }
          : { from: from || to || today, to: to || today };
  return {
    ...which,
    ...(asked['zone'] ? { zone: zoneOf(asked) } : {}),
    ...(view === 'entries'
      ? {}
      : {
          view,
          ...(tool ? { tool } : {}),
          ...(agent ? { agent } : {}),
          ...(reference ? { reference } : {}),
          ...(asked['as_of'] ? { asOf: asked['as_of'] } : {}),
          ...(doubt ? { doubt: choice('doubt', doubt, ['true', 'false']) === 'true' } : {}),
        }),
    ...(status && (view !== 'entries' || 'from' in which) ? { status } : {}),
  };
};

/**
 * All rows that the filters select, as one file. If it would be too long it is cut, and the last line says
 * so.
 */
export const ledgerCsv = async (ask: Ask, asked: Visit['query'], now: Date): Promise<string> => {
  const request = ledgerRequest(asked, now);
  if (request.view === 'totals') return totalsCsv((await readTotals(ask, request)).totals, request);
  const pages: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await ask('query-ledger', {
      ...request,
      format: 'csv',
      limit: 1000,
      ...(cursor === undefined ? {} : { cursor }),
    });
    const csv = page.csv ?? '';
    // Each page has the header line.
    pages.push(pages.length === 0 ? csv : csv.slice(csv.indexOf('\n') + 1));
    ({ cursor } = page);
  } while (cursor !== undefined && pages.length < MOST_PAGES);
  return cursor === undefined ? pages.join('') : `${pages.join('')}"cut here: choose fewer days"\r\n`;
};

const readTotals = async (
  ask: Ask,
  request: QueryLedgerInput,
): Promise<{ totals: LedgerTotals } & Pick<LedgerAnswer, 'below'>> => {
  const totals = createTotals();
  let page: LedgerAnswer = {};
  do {
    const { cursor } = page;
    page = await ask('query-ledger', { ...request, ...(cursor === undefined ? {} : { cursor }) });
    if (page.totals !== undefined) totals.addTotals(page.totals);
  } while (page.cursor !== undefined);
  return { totals: totals.end(), ...(page.below === undefined ? {} : { below: page.below }) };
};

/** Names the filters that are not used, so that nobody believes they were. */
const unusedPart = (asked: Visit['query'], view: View): Markup => {
  const { saga, ref, status, from, to, tool, agent, reference, doubt } = asked;
  const isWhole = Boolean(saga) || Boolean(ref);
  const isEntries = view === 'entries';
  const unused = [
    ...(isWhole && (from || to) ? ['days'] : []),
    ...(status && ((isWhole && isEntries) || statusFor(view, status) === undefined) ? ['status'] : []),
    ...(saga && ref ? ['reference'] : []),
    ...(!isEntries && asked['key'] ? ['idempotency key'] : []),
    ...(isEntries && tool ? ['tool'] : []),
    ...(isEntries && agent ? ['agent'] : []),
    ...(isEntries && reference ? ['resource'] : []),
    ...(isEntries && doubt ? ['doubt'] : []),
    ...(isEntries && asked['as_of'] ? ['as of'] : []),
    ...((isEntries || isWhole) && isByUndo(asked) ? ['days of the undo'] : []),
  ];
  const whole = saga ? 'saga' : 'reference';
  const all = isWhole
    ? `All of this ${whole} is shown, whatever its`
    : `All ${view} of these days are shown, whatever their`;
  return unused.length === 0 ? NOTHING : html`<p class="hint" role="note">${all} ${listSome(unused, 6)}.</p>`;
};

/** Says that this is not all, for anyone who adds up the money of a saga. */
const belowPart = ({ below = [] }: LedgerAnswer, here: (saga: string) => string): Markup =>
  below.length === 0
    ? NOTHING
    : html`<p class="hint" role="note">It runs ${plural(below.length, 'saga', 'sagas')} as ${below.length === 1 ? 'a step' : 'steps'}, and what they did is not in this: ${below.slice(0, MOST_BELOW).map((one) => html`${link(here(one), one)} `)}${below.length > MOST_BELOW ? `and ${below.length - MOST_BELOW} more` : ''}</p>`;

/** States the zone and the day that were asked for. */
const timePart = ({ zone, asOf, undoneFrom, undoneTo }: QueryLedgerInput): Markup => {
  const stated = [
    ...(zone === undefined ? [] : [`Days and times are those of ${zone}.`]),
    ...(asOf === undefined ? [] : [`As of the end of ${asOf}.`]),
    ...((undoneFrom ?? undoneTo) === undefined ? [] : ['By the day of the undo.']),
  ];
  return stated.length === 0 ? NOTHING : html`<p class="hint">${said(stated.join(' '))}</p>`;
};

const field = (name: string, label: string, value: string | undefined, type = 'text'): Markup =>
  html`<div><label for="${name}">${label}</label><input id="${name}" name="${name}" type="${type}" size="14" value="${value ?? ''}" /></div>`;

const DOUBTS = { '': 'all', true: 'in doubt', false: 'known to have happened' } as const;

const doubtFilter = (asked: string | undefined): Markup =>
  html`<div><label for="doubt">Whether it happened</label><select id="doubt" name="doubt">${Object.entries(
    DOUBTS,
  ).map(
    ([value, text]) =>
      html`<option value="${value}"${value === asked ? html` selected` : ''}>${text}</option>`,
  )}</select></div>`;

const filterForm = (asked: Visit['query'], view: View, request: QueryLedgerInput): Markup =>
  html`<form class="filters" method="get" action="/ledger">
    <div><label for="view">Show</label><select id="view" name="view">${Object.entries(VIEWS).map(
      ([name, text]) => html`<option value="${name}"${name === view ? html` selected` : ''}>${text}</option>`,
    )}</select></div>
    ${field('from', `From day (${zoneOf(asked)})`, request.from, 'date')}${field('to', 'To day', request.to, 'date')}${field('zone', 'Time zone', asked['zone'])}${field('saga', 'Saga', asked['saga'])}
    ${field('ref', 'Reference of the provider', asked['ref'])}${view === 'entries' ? field('key', 'Idempotency key', asked['key']) : html`${field('tool', 'Tool', asked['tool'])}${field('agent', 'Agent', asked['agent'])}${field('reference', 'Resource or reference', asked['reference'])}${field('as_of', 'As of the end of', asked['as_of'], 'date')}${field('undone_from', 'Undone from', asked['undone_from'], 'date')}${field('undone_to', 'Undone to', asked['undone_to'], 'date')}`}
    <div><label for="status">Status</label><select id="status" name="status"><option value="">all</option>${statusesOf(
      view,
    ).map(
      (one) =>
        html`<option value="${one}"${one === asked['status'] ? html` selected` : ''}>${one.replaceAll('_', ' ')}</option>`,
    )}</select></div>${view === 'entries' ? NOTHING : doubtFilter(asked['doubt'])}<button type="submit">Show</button></form>`;

/** Days are those of the reader, unless a zone is asked for. */
const inZone = ({ query: asked, zone }: Visit): Visit['query'] =>
  asked['zone'] || zone === UTC ? asked : { zone, ...asked };

export const showLedger: Show = async (visit) => {
  const { ask, now } = visit;
  const asked = inZone(visit);
  const { saga, cursor } = asked;
  const view = viewOf(asked['view']);
  const request = ledgerRequest(asked, now());
  const filter = {
    ...asked,
    ...('from' in request ? { from: request.from, to: request.to } : {}),
    cursor: undefined,
    format: undefined,
  };
  const here = (more: Readonly<Record<string, string | undefined>>): string =>
    `/ledger${query({ ...filter, ...more })}`;
  let answer: LedgerAnswer;
  let rows: Markup;
  if (view === 'totals') {
    const read = await readTotals(ask, request);
    answer = read;
    rows = totalsPart(read.totals, { zone: zoneOf(asked), byUndo: isByUndo(asked) }, here);
  } else {
    let broken: string | undefined;
    answer = await ask('query-ledger', { ...request, limit: PAGE, ...(cursor ? { cursor } : {}) }).catch(
      (error: unknown) => {
        broken = visit.brokenBy(error);
        // The verdict says what is wrong with it.
        if (broken === undefined || !saga) throw error;
        return {};
      },
    );
    rows =
      view === 'effects'
        ? effectRows(answer.effects ?? [], zoneOf(asked))
        : entryRows(answer.entries ?? [], true, zoneOf(asked));
  }
  const check = saga ? await verified(visit, saga) : undefined;
  const today = dayIn(zoneOf(asked), now().toISOString());
  const days = 'from' in request ? request : {};
  const body = html`${presetsPart(today, days, here)}${filterForm(asked, view, request)}
    ${check === undefined ? NOTHING : verdict(check)}
    ${unusedPart(asked, view)}
    ${belowPart(answer, (one) => here({ saga: one }))}
    ${timePart(request)}
    ${rows}
    <p class="acts">${answer.cursor === undefined ? NOTHING : html`<a class="button" href="${here({ cursor: answer.cursor })}">Further rows</a>`}<a class="button" href="/ledger.csv${query(filter)}">CSV of all rows</a>${saga && visit.params['id'] !== saga ? link(path('sagas', saga), 'The saga') : NOTHING}</p>`;
  const data = check === undefined ? answer : { ...answer, check };
  return { title: 'Ledger', body, data, place: '/ledger', isWide: true };
};
