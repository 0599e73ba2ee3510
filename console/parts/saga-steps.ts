/** The steps of a saga, and what became of them. */
import { html } from 'hono/html';
import type { LedgerRow } from '../../contract/ledger-query.ts';
import type { Observation } from '../../contract/saga-observation.ts';
import { fromRow } from '../../core/saga/ledger/ledger-row.ts';
import { effectsStillStanding } from '../../core/saga/people/standing.ts';
import { money, reference } from './ledger-tables.ts';
import { badge, folded, link, type Markup, NOTHING, path, shown, table, time } from './markup.ts';

type Step = Observation['committed'][number];

interface Line extends Step {
  what: Markup;
  /** For a saga below: its path and its id. */
  path?: string | undefined;
  sagaId?: string | undefined;
  /** A submitted step, whose id names only one step, in any epoch. */
  isOnce?: boolean;
}

const stepLines = (seen: Observation): Line[] => {
  const { compensated, notCompensated, rejected = [] } = seen;
  return [
    ...effectsStillStanding(seen).map((one) => ({ ...one, what: badge('stands', 'good') })),
    ...compensated.map((one) => ({
      ...one,
      what: html`${one.residue === undefined ? badge('undone', 'calm') : badge('undone in part', 'ask')} ${folded(one.byHand ?? one.residue)}`,
    })),
    ...notCompensated.map((one) => ({
      ...one,
      what: html`${badge('not undone', 'bad')} ${folded(one.reason)}${one.error === undefined || one.reason.includes(one.error.message) ? NOTHING : html` ${folded(`${one.error.name}: ${one.error.message}`)}`}${one.nextAttempt === undefined ? NOTHING : html`; again from ${time(one.nextAttempt, 'clock')} on`}`,
    })),
    ...rejected.map(({ step, tool, error }) => ({
      step,
      tool,
      externalRef: null,
      isOnce: true,
      what: html`${badge('rejected', 'plain')} ${folded(error?.message)}`,
    })),
  ];
};

const epochOf = (row: LedgerRow): number | undefined => {
  const entry = fromRow(row);
  return 'epoch' in entry ? entry.epoch : undefined;
};

/** Attempts as the ledger counts them. A step that a rewind took back has a line for each epoch. */
const attempts = (
  entries: readonly LedgerRow[],
  { step, sagaId, epoch = 0, isOnce = false }: Line,
  direction: 'forward' | 'undo',
): number | '' => {
  if (sagaId !== undefined) return '';
  const isOne = (one: LedgerRow) =>
    one.step === step &&
    one.direction === direction &&
    one.status === 'started' &&
    (isOnce || epochOf(one) === epoch);
  return entries.filter(isOne).length || '';
};

export const stepName = ({ step, epoch, path: where, sagaId }: Omit<Line, 'what'>): Markup =>
  html`${sagaId === undefined ? NOTHING : html`${link(path('sagas', sagaId), where ?? sagaId)} `}${shown(step)}${epoch === undefined ? NOTHING : html` <span class="meta">epoch ${epoch}</span>`}`;

/** `entries`: for how often each was tried. */
export const stepsPart = (seen: Observation, entries: readonly LedgerRow[] = []): Markup =>
  table(
    'Steps, and what became of them',
    [
      { title: 'Step', cell: stepName },
      { title: 'Tool', cell: ({ tool }) => shown(tool) },
      { title: 'Amount', isNumber: true, cell: (one) => money(one.amount, one.currency) },
      { title: 'Reference', cell: ({ externalRef, externalUrl }) => reference(externalRef, externalUrl) },
      ...(entries.length === 0
        ? []
        : [
            {
              title: 'Tries',
              isNumber: true as const,
              cell: (one: Line) => attempts(entries, one, 'forward'),
            },
            {
              title: 'Tries to undo',
              isNumber: true as const,
              cell: (one: Line) => attempts(entries, one, 'undo'),
            },
          ]),
      { title: 'Now', cell: ({ what }) => what },
    ],
    stepLines(seen),
    'Nothing took effect.',
  );
