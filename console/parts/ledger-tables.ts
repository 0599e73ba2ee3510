/** Ledger entries, effects and totals as tables. */

import { html } from 'hono/html';
import type { AmountDirection } from '../../contract/amount-direction.ts';
import { ENGINE } from '../../contract/identity.ts';
import {
  isUndoneInPart,
  type LedgerEffect,
  type LedgerTotal,
  type LedgerTotals,
  undoneAt,
} from '../../contract/ledger-answers.ts';
import type { LedgerRow } from '../../contract/ledger-query.ts';
import { isWebAddress } from '../../contract/web-address.ts';
import { UTC } from '../../contract/zones.ts';
import { directionsIn } from '../../core/saga/ledger/totals.ts';
import { formatSpan } from '../../present/text.ts';
import {
  badge,
  type Column,
  folded,
  link,
  type Markup,
  NOTHING,
  path,
  shown,
  table,
  timeAt,
} from './markup.ts';

const who = ({ actor }: LedgerRow): Markup =>
  actor === ENGINE ? html`<span class="hint">engine</span>` : shown(actor);

/** `25.00 EUR`. */
export const money = (amount: string | null | undefined, currency: string | null | undefined): Markup =>
  amount === null || amount === undefined
    ? NOTHING
    : html`<span class="number">${shown(amount)} ${shown(currency)}</span>`;

/** `25.00 EUR out`. */
const going = ({ amount, currency, amount_direction: direction }: LedgerRow | LedgerEffect): Markup =>
  amount === null ? NOTHING : html`${money(amount, currency)} ${shown(direction)}`;

/**
 * The reference by which a provider knows the effect, as a link to where it shows it (`url`). Some references
 * are an address themselves.
 */
export const reference = (ref: string | null | undefined, url?: string | null): Markup => {
  const to = [url, ref].find((one) => typeof one === 'string' && isWebAddress(one));
  return to === null || to === undefined
    ? shown(ref)
    : html`<a href="${to}" rel="noreferrer noopener">${shown(ref ?? to)}</a>`;
};

const sagaCell = (sagaId: string): Markup => link(path('sagas', sagaId), sagaId);

export const entryRows = (entries: readonly LedgerRow[], withSaga = false, zone = UTC): Markup =>
  table(
    'Ledger entries, oldest first',
    [
      ...(withSaga ? [{ title: 'Saga', cell: ({ saga_id }: LedgerRow) => sagaCell(saga_id) }] : []),
      { title: 'No.', isNumber: true as const, cell: ({ seq }: LedgerRow) => seq },
      { title: 'When', cell: ({ at }: LedgerRow) => timeAt(zone, at) },
      { title: 'Step', cell: ({ step }: LedgerRow) => shown(step) },
      { title: 'Tool', cell: ({ tool }: LedgerRow) => shown(tool) },
      {
        title: 'What',
        isHead: true as const,
        cell: ({ direction, status, attempt }: LedgerRow) =>
          html`<span class="whole">${shown(`${direction} ${status.replaceAll('_', ' ')}`)}${attempt !== null && attempt > 1 ? `, attempt ${attempt}` : ''}</span>`,
      },
      { title: 'Amount', isNumber: true as const, cell: going },
      { title: 'Reference', cell: (one: LedgerRow) => reference(one.external_ref, one.external_url) },
      {
        title: 'Error',
        cell: ({ error }: LedgerRow) =>
          error === null ? NOTHING : html`<div class="long">${folded(error)}</div>`,
      },
      { title: 'Who', cell: who },
      { title: 'Proof', cell: ({ proof }: LedgerRow) => shown(proof) },
    ],
    entries,
    'No entry fits.',
  );

const TONES: Readonly<Record<string, string>> = {
  stands: 'good',
  undone: 'calm',
  undoing: 'ask',
  undo_failed: 'bad',
  skipped: 'bad',
  accepted: 'bad',
  resolved: 'calm',
  in_doubt: 'bad',
};

/** For a partly undone effect, what stays comes first: the error of an earlier undo no longer matters then. */
const note = (one: LedgerEffect): Markup => {
  const problem = one.amount_problem ?? one.undone_problem;
  const known = one.evidence ?? one.residue ?? (one.status === 'undone' ? null : one.error) ?? problem;
  return one.doubt === null
    ? folded(known)
    : html`In doubt, it may have happened: ${shown(one.doubt)} ${folded(known)}`;
};

export const effectRows = (effects: readonly LedgerEffect[], zone = UTC): Markup =>
  table(
    'Effects, each with its undo',
    [
      { title: 'When', cell: (one) => timeAt(zone, one.committed_at) },
      { title: 'Saga', cell: (one) => sagaCell(one.saga_id) },
      { title: 'Tool', isHead: true, cell: (one) => shown(one.tool) },
      { title: 'Agent', cell: (one) => shown(one.agent) },
      { title: 'Resource', cell: (one) => shown(one.resource_key) },
      { title: 'Reference', cell: (one) => reference(one.external_ref, one.external_url) },
      { title: 'Amount', isNumber: true, cell: going },
      {
        title: 'Now',
        cell: (one) =>
          isUndoneInPart(one) ? badge('undone in part', 'ask') : badge(one.status, TONES[one.status]),
      },
      { title: 'Undone', cell: (one) => timeAt(zone, undoneAt(one) ?? undefined) },
      { title: 'By', cell: (one) => shown(one.undone_by) },
      { title: 'Proof', cell: (one) => shown(one.undone_by_proof) },
      { title: 'Taken back', isNumber: true, cell: (one) => money(one.undone_amount, one.undone_currency) },
      { title: 'Note', cell: note },
    ],
    effects,
    'No effect fits.',
  );

const DIRECTION_TITLES: Readonly<Record<AmountDirection, string>> = {
  in: 'In',
  out: 'Out',
  neither: 'Neither',
};

/** For sums without a currency there is no amount. */
const sum = ({ currency }: LedgerTotal, amount: string): Markup =>
  currency === null ? NOTHING : money(amount, currency);

/** A direction has columns when money went that way. */
const movedColumns = (directions: readonly AmountDirection[]): Column<LedgerTotal>[] =>
  directions.flatMap((direction) => [
    {
      title: DIRECTION_TITLES[direction],
      isNumber: true,
      cell: (one) => sum(one, one[direction].amount),
    },
    { title: 'Taken back', isNumber: true, cell: (one) => sum(one, one[direction].undone) },
  ]);

const totalRows = (
  directions: readonly AmountDirection[],
  caption: string,
  key: string,
  rows: readonly LedgerTotal[],
  to: (total: LedgerTotal) => string,
): Markup =>
  html`<h2>${caption}</h2>${table(
    caption,
    [
      {
        title: key,
        cell: (one) => html`<a href="${to(one)}">${shown(one.key ?? one.currency ?? 'none')}</a>`,
      },
      {
        title: 'Effects',
        isNumber: true,
        cell: ({ effects, currency }) =>
          currency === null ? html`${effects} <span class="hint">without an amount</span>` : effects,
      },
      { title: 'Undone', isNumber: true, cell: ({ undoneEffects }) => undoneEffects },
      ...movedColumns(directions),
      { title: 'Net', isNumber: true, cell: (one) => sum(one, one.net) },
      { title: 'Undone by hand', isNumber: true, cell: ({ byHandEffects }) => byHandEffects },
      ...directions.map((direction) => ({
        title: `Of ${direction}, by hand`,
        isNumber: true as const,
        cell: (one: LedgerTotal) => sum(one, one[direction].byHand),
      })),
    ],
    rows,
    'Nothing to add up.',
  )}`;

/** `here`: the same page with other filters. Every sum links to its rows. `byUndo`: days are those of the undo. */
export const totalsPart = (
  totals: LedgerTotals,
  { zone, byUndo }: { zone: string; byUndo: boolean },
  here: (more: Readonly<Record<string, string | undefined>>) => string,
): Markup =>
  html`${totalRows(directionsIn(totals.all), 'In all', 'Currency', totals.all, () => here({ view: 'effects' }))}
  ${totalRows(directionsIn(totals.all), 'By tool', 'Tool', totals.byTool, ({ key }) => here({ view: 'effects', tool: key ?? '' }))}
  ${totalRows(directionsIn(totals.all), 'By agent', 'Agent', totals.byAgent, ({ key }) => here({ view: 'effects', agent: key ?? '' }))}
  ${totalRows(directionsIn(totals.all), 'By day', `Day (${zone})`, totals.byDay, ({ key }) => here({ view: 'effects', ...(byUndo ? { undone_from: key ?? '', undone_to: key ?? '' } : { from: key ?? '', to: key ?? '' }) }))}
  ${totalRows(directionsIn(totals.all), 'By status', 'Status', totals.byStatus, ({ key }) => here({ view: 'effects', status: key ?? '' }))}
  <h2>Time to reconcile</h2>${
    totals.secondsToReconcile === null
      ? NOTHING
      : html`<p>${formatSpan(totals.secondsToReconcile)} on average, of those that are reconciled.</p>`
  }${table(
    'Failed compensations and when they were reconciled',
    [
      { title: 'Saga', cell: ({ sagaId }) => sagaCell(sagaId) },
      { title: 'Failed', cell: ({ failedAt }) => timeAt(zone, failedAt) },
      {
        title: 'Reconciled',
        cell: ({ reconciledAt }) =>
          reconciledAt === null ? badge('open', 'bad') : timeAt(zone, reconciledAt),
      },
      {
        title: 'Took',
        isNumber: true,
        cell: ({ seconds }) => (seconds === null ? '' : formatSpan(seconds)),
      },
    ],
    totals.reconciliations,
    'No compensation had failed.',
  )}`;
