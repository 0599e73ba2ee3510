import { html } from 'hono/html';
import { plural } from '../../cli/terminal/text.ts';
import { verifyLedger } from '../../client/verify-ledger.ts';
import type { LedgerRow } from '../../contract/saga-answers.ts';
import type { Show, Visit } from '../context.ts';
import { link, list, type Markup, NOTHING, path, query, shown, table, time } from '../parts/markup.ts';

const PAGE = 100;

const personIn = (detail: string): boolean => {
  try {
    const value: unknown = JSON.parse(detail);
    return typeof value === 'object' && value !== null && 'person' in value;
  } catch {
    return false;
  }
};

/** A name that nobody proved is marked. */
const who = ({ actor, detail }: LedgerRow): Markup =>
  actor === 'engine'
    ? html`<span class="hint">engine</span>`
    : html`${shown(actor)}${personIn(detail) ? NOTHING : html` <span class="hint">(claimed)</span>`}`;

export const ledgerRows = (entries: readonly LedgerRow[], withSaga = false): Markup =>
  table(
    'Ledger entries, oldest first',
    [
      ...(withSaga
        ? [{ title: 'Saga', cell: ({ saga_id }: LedgerRow) => link(path('sagas', saga_id), saga_id) }]
        : []),
      { title: 'No.', isNumber: true as const, cell: ({ seq }: LedgerRow) => seq },
      { title: 'When', cell: ({ at }: LedgerRow) => time(at) },
      { title: 'Step', cell: ({ step }: LedgerRow) => shown(step) },
      { title: 'Tool', cell: ({ tool }: LedgerRow) => shown(tool) },
      {
        title: 'What',
        cell: ({ direction, status }: LedgerRow) => `${direction} ${status.replaceAll('_', ' ')}`,
      },
      { title: 'Reference', cell: ({ external_ref }: LedgerRow) => shown(external_ref) },
      { title: 'Error', cell: ({ error }: LedgerRow) => shown(error) },
      { title: 'Who', cell: who },
    ],
    entries,
    'No entry fits.',
  );

const verdict = async ({ ask, isNotFound }: Visit, sagaId: string): Promise<Markup> => {
  const { ok, findings, entries, sagaIds } = await verifyLedger(
    (request) => ask('query-ledger', request),
    sagaId,
    isNotFound,
  );
  if (ok) {
    return html`<p class="card done" role="status"><strong>As it was written.</strong> ${plural(entries, 'entry', 'entries')} of ${plural(sagaIds.length, 'saga')}: the chain, the head and the tree agree.</p>`;
  }
  return html`<section class="card stop" role="alert"><h2>Not as it was written</h2>${list(
    findings
      .slice(0, 50)
      .map(({ sagaId: saga, where, message }) => html`${shown(saga)}, ${shown(where)}: ${shown(message)}`),
  )}</section>`;
};

export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

const field = (name: string, label: string, value: string | undefined, type = 'text'): Markup =>
  html`<div><label for="${name}">${label}</label><input id="${name}" name="${name}" type="${type}" value="${value ?? ''}" /></div>`;

const STATUSES = [
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

/** What the function is asked for: a saga, else a reference, else a day, today unless another is given. */
export const ledgerRequest = ({ saga, reference, day, status }: Visit['query'], today: string) => {
  if (saga) return { sagaId: saga };
  if (reference) return { externalRef: reference };
  return { day: day || today, ...(status ? { status } : {}) };
};

export const showLedger: Show = async (visit) => {
  const { saga, reference, status, cursor, verify } = visit.query;
  const request = ledgerRequest(visit.query, dayOf(visit.now()));
  const day = 'day' in request ? request.day : undefined;
  const filter = { saga, reference, day, status };
  const answer = await visit.ask('query-ledger', {
    ...request,
    limit: PAGE,
    ...(cursor ? { cursor } : {}),
  });
  const checked = saga && verify === 'yes' ? await verdict(visit, saga) : NOTHING;
  const body = html`<form class="filters" method="get" action="/ledger">
    ${field('day', 'Day (UTC)', day, 'date')}${field('saga', 'Saga', saga)}${field('reference', 'Reference of the provider', reference)}
    <div><label for="status">Status</label><select id="status" name="status"><option value="">all</option>${STATUSES.map(
      (one) => html`<option${one === status ? html` selected` : ''}>${one}</option>`,
    )}</select></div><button type="submit">Show</button></form>
    ${checked}
    <p>${link(`/ledger.csv${query(filter)}`, 'CSV')}${saga && verify !== 'yes' ? html` · ${link(`/ledger${query({ ...filter, verify: 'yes' })}`, 'Verify this saga')}` : NOTHING}</p>
    ${ledgerRows(answer.entries ?? [], true)}
    ${answer.cursor === undefined ? NOTHING : html`<p><a href="/ledger${query({ ...filter, cursor: answer.cursor })}">Further entries</a></p>`}`;
  return { title: 'Ledger', body, data: answer };
};
