import { html } from 'hono/html';
import { formatTime, plural } from '../../cli/terminal/text.ts';
import { type Observation, SAGA_STATUSES } from '../../contract/saga-answers.ts';
import type { Show } from '../context.ts';
import {
  badge,
  facts,
  json,
  link,
  list,
  type Markup,
  NOTHING,
  path,
  query,
  shown,
  table,
  time,
} from '../parts/markup.ts';
import { ledgerRows } from './ledger.ts';

const ROWS = 500;

export const showSagas: Show = async ({ ask, query: { status, cursor } }) => {
  const known = SAGA_STATUSES.find((one) => one === status);
  const answer = await ask('list-sagas', {
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
      { title: 'Saga', cell: ({ sagaId }) => link(path('sagas', sagaId), sagaId) },
      { title: 'Status', cell: (one) => badge(one.status) },
      { title: 'Template', cell: ({ definition }) => shown(definition) },
      { title: 'Steps', isNumber: true, cell: ({ started, steps }) => `${started} of ${steps}` },
      { title: 'Asked for by', cell: ({ requestedBy }) => shown(requestedBy) },
      { title: 'Turned back by', cell: ({ failure }) => shown(failure) },
      { title: 'Last change', cell: ({ updatedAt }) => time(updatedAt) },
    ],
    answer.sagas,
    'No saga.',
  );
  const more =
    answer.cursor === undefined
      ? NOTHING
      : html`<p><a href="/sagas${query({ status: known, cursor: answer.cursor })}">More sagas</a></p>`;
  return { title: 'Sagas', body: html`${filters}${rows}${more}`, data: answer };
};

interface Line {
  step: string;
  tool: string;
  externalRef: string | null;
  what: Markup;
}

const stepLines = ({ committed, compensated, notCompensated }: Observation): Line[] => [
  ...committed.map((one) => ({ ...one, what: badge('stands', 'good') })),
  ...compensated.map((one) => ({
    ...one,
    what: html`${badge('undone', 'calm')} ${shown(one.byHand ?? one.residue)}`,
  })),
  ...notCompensated.map((one) => ({
    ...one,
    what: html`${badge('not undone', 'bad')} ${shown(one.reason)}`,
  })),
];

const childrenPart = ({ children = [] }: Observation): Markup =>
  children.length === 0
    ? NOTHING
    : html`<h2>Sagas below</h2>${table(
        'Sagas below',
        [
          { title: 'Where', cell: (one) => shown(one.path) },
          { title: 'Saga', cell: ({ sagaId }) => link(path('sagas', sagaId), sagaId) },
          { title: 'Status', cell: ({ status }) => badge(status) },
          { title: 'Sealed', cell: ({ sealed }) => (sealed === undefined ? '' : sealed ? 'yes' : 'no') },
        ],
        children,
        '',
      )}`;

export const showSaga: Show = async ({ ask, params: { id: sagaId = '' }, now }) => {
  const seen = await ask('describe-saga', { sagaId });
  const { entries = [], cursor } = await ask('query-ledger', { sagaId, limit: ROWS });
  const isMoving = seen.doing !== undefined;
  const body = html`${facts([
    ['Status', badge(seen.status)],
    ['Template', shown(seen.definition)],
    ['Asked for by', shown(seen.requestedBy)],
    ['Began', time(seen.createdAt)],
    ['Last change', time(seen.updatedAt)],
    ...(seen.parent === undefined
      ? []
      : [['A step of', link(path('sagas', seen.parent.sagaId), seen.parent.sagaId)] as const]),
  ])}
  ${seen.guidance === undefined ? NOTHING : html`<p class="card warn">${shown(seen.guidance.by)} says: ${shown(seen.guidance.text)}</p>`}
  ${seen.awaiting === undefined ? NOTHING : html`<section class="card warn"><h2>Waits for an approval</h2><p>${shown(seen.awaiting.tool)}, until ${time(seen.awaiting.until)}</p>${json(seen.awaiting.arguments ?? {})}<p><a href="/queue">Answer it in the queue</a></p></section>`}
  ${seen.failed === undefined ? NOTHING : html`<section class="card stop"><h2>Turned back</h2><p>${shown(seen.failed.step)}: ${shown(seen.failed.error.name)}: ${shown(seen.failed.error.message)}</p>${seen.failed.by === undefined ? NOTHING : html`<p>by ${shown(seen.failed.by)}: ${shown(seen.failed.reason)}</p>`}</section>`}
  ${seen.doing === undefined ? NOTHING : html`<p role="status">${badge(seen.doing.what, 'ask')} ${shown(seen.doing.tool ?? seen.doing.reason)} ${seen.doing.until === undefined ? NOTHING : html`until ${formatTime(seen.doing.until, now())}`}</p>`}
  <h2>What it did</h2>${table(
    'Steps',
    [
      { title: 'Step', cell: ({ step }) => shown(step) },
      { title: 'Tool', cell: ({ tool }) => shown(tool) },
      { title: 'Reference', cell: ({ externalRef }) => shown(externalRef) },
      { title: 'Now', cell: ({ what }) => what },
    ],
    stepLines(seen),
    'Nothing took effect.',
  )}
  ${childrenPart(seen)}
  <h2>Ledger</h2><p>${link(`/ledger${query({ saga: sagaId, verify: 'yes' })}`, 'Verify it')}</p>${ledgerRows(entries)}
  ${cursor === undefined ? NOTHING : html`<p class="hint">Only the first ${plural(entries.length, 'entry', 'entries')} are shown.</p>`}
  ${list([html`<span class="hint">${shown(seen.advice)}</span>`])}`;
  return {
    title: `Saga ${sagaId}`,
    body,
    data: { saga: seen, entries },
    ...(isMoving ? { refreshSeconds: 5 } : {}),
  };
};
