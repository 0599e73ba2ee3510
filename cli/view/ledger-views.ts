import {
  isLetStand,
  isUndoneInPart,
  type LedgerEffect,
  type LedgerTotal,
  type LedgerTotals,
  undoneAt,
} from '../../contract/ledger-answers.ts';
import type { LedgerRow } from '../../contract/ledger-query.ts';
import { timeIn, UTC } from '../../contract/zones.ts';
import { directionsIn } from '../../core/saga/ledger/totals.ts';
import { plural } from '../../core/shared/plural.ts';
import { formatSpan, printableLine } from '../../present/text.ts';
import { type Column, table } from '../terminal/table.ts';
import type { Paint } from '../terminal/terminal.ts';
import { truncate } from '../terminal/text.ts';

const COLUMNS = [
  { head: 'AT' },
  { head: 'SAGA' },
  { head: 'SEQ', align: 'right' as const },
  { head: 'STEP' },
  { head: 'WHAT' },
  { head: 'REFERENCE' },
  { head: 'BY' },
  { head: 'PROOF' },
  { head: 'ERROR' },
];

/** Adds the providers' addresses as the last column, if any row has one. */
const withLinks = (
  columns: readonly Column[],
  rows: readonly { external_url?: string | null }[],
  cells: readonly (readonly string[])[],
  paint: Paint,
): string => {
  const links = rows.map(({ external_url: url }) => (typeof url === 'string' ? printableLine(url) : ''));
  return links.every((link) => link === '')
    ? table(columns, cells, paint)
    : table(
        [...columns, { head: 'LINK' }],
        cells.map((row, at) => [...row, links[at] ?? '']),
        paint,
      );
};

/** Only on a terminal. Ids, references and names are never cut, because other commands take them. */
const ERROR_WIDTH = 50;

export const ledgerTable = (rows: readonly LedgerRow[], paint: Paint, width: number, zone = UTC): string => {
  if (rows.length === 0) return 'No entries.\n';
  const cells = rows.map((row) => [
    timeIn(zone, row.at),
    printableLine(row.saga_id),
    String(row.seq),
    printableLine(row.step ?? '-'),
    `${row.direction} ${row.status}`,
    printableLine(row.external_ref ?? '-'),
    printableLine(row.actor),
    printableLine(row.proof ?? '-'),
    truncate(printableLine(row.error ?? ''), width === Infinity ? width : ERROR_WIDTH),
  ]);
  return withLinks(COLUMNS, rows, cells, paint);
};

const dateTime = (at: string | null, zone: string): string => (at === null ? '-' : timeIn(zone, at));

const money = (amount: string | null, currency: string | null, problem: string | null = null): string => {
  if (amount !== null) return `${amount} ${currency ?? ''}`.trimEnd();
  return problem === null ? '-' : '?';
};

/** `84.00 EUR out`. */
const going = (row: LedgerEffect): string => {
  const text = money(row.amount, row.currency, row.amount_problem);
  return row.amount === null || row.amount_direction === null ? text : `${text} ${row.amount_direction}`;
};

const EFFECT_COLUMNS = [
  { head: 'COMMITTED' },
  { head: 'SAGA' },
  { head: 'STEP' },
  { head: 'TOOL' },
  { head: 'AGENT' },
  { head: 'RESOURCE' },
  { head: 'REFERENCE' },
  { head: 'AMOUNT', align: 'right' as const },
  { head: 'STATUS' },
  { head: 'UNDONE' },
  { head: 'TAKEN BACK', align: 'right' as const },
  { head: 'BY' },
  { head: 'PROOF' },
];

const isInDoubt = ({ doubt }: LedgerEffect): boolean => doubt !== null;

const effectStatus = (row: LedgerEffect): string => {
  const { status } = row;
  const said = `${status.replaceAll('_', ' ')}${isUndoneInPart(row) ? ' in part' : ''}`;
  return isInDoubt(row) && status !== 'in_doubt' ? `${said}, in doubt` : said;
};

export const effectsTable = (rows: readonly LedgerEffect[], paint: Paint, zone = UTC): string => {
  if (rows.length === 0) return 'No effects.\n';
  const cells = rows.map((row) => [
    dateTime(row.committed_at, zone),
    printableLine(row.saga_id),
    printableLine(row.step),
    printableLine(row.tool),
    printableLine(row.agent),
    printableLine(row.resource_key ?? '-'),
    printableLine(row.external_ref ?? '-'),
    going(row),
    effectStatus(row),
    dateTime(undoneAt(row), zone),
    money(row.undone_amount, row.undone_currency, row.undone_problem),
    printableLine(row.undone_by ?? '-'),
    printableLine(row.undone_by_proof ?? '-'),
  ]);
  const problems = rows.filter((row) => (row.amount_problem ?? row.undone_problem) !== null).length;
  const note =
    problems === 0
      ? ''
      : `${plural(problems, 'amount')} could not be read: see amount_problem with --json.\n`;
  const doubts = rows.filter(isInDoubt).length;
  const doubtNote =
    doubts === 0
      ? ''
      : `${plural(doubts, 'effect is', 'effects are')} in doubt: it may have happened, and no amount is known. See doubt with --json.\n`;
  const parts = rows.filter(isUndoneInPart).length;
  const partNote =
    parts === 0
      ? ''
      : `${plural(parts, 'effect was', 'effects were')} undone in part: what stays is in residue with --json.\n`;
  const letStand = rows.filter(isLetStand).length;
  const letStandNote =
    letStand === 0
      ? ''
      : `${plural(letStand, 'effect was', 'effects were')} let stand: when and why is in undone_at and evidence with --json.\n`;
  return `${withLinks(EFFECT_COLUMNS, rows, cells, paint)}${note}${doubtNote}${partNote}${letStandNote}`;
};

interface TotalColumn extends Column {
  cell: (total: LedgerTotal) => string;
}

const right = (head: string, cell: TotalColumn['cell']): TotalColumn => ({ head, align: 'right', cell });

/** For sums without a currency there is no amount. */
const sum = (head: string, cell: TotalColumn['cell']): TotalColumn =>
  right(head, (one) => (one.currency === null ? '-' : cell(one)));

/** A direction has columns when money went that way, and what was undone by hand when something was. */
const totalColumns = (all: readonly LedgerTotal[]): TotalColumn[] => {
  const directions = directionsIn(all);
  const isByHand = all.some(({ byHandEffects }) => byHandEffects > 0);
  return [
    { head: 'CURRENCY', cell: ({ currency }) => currency ?? 'no amount' },
    right('EFFECTS', ({ effects }) => String(effects)),
    right('UNDONE', ({ undoneEffects }) => String(undoneEffects)),
    ...directions.flatMap((direction) => [
      sum(direction.toUpperCase(), (one) => one[direction].amount),
      sum(`${direction.toUpperCase()} TAKEN BACK`, (one) => one[direction].undone),
    ]),
    sum('NET', ({ net }) => net),
    ...(isByHand
      ? [
          right('BY HAND', ({ byHandEffects }) => String(byHandEffects)),
          ...directions.map((direction) =>
            sum(`${direction.toUpperCase()} BY HAND`, (one) => one[direction].byHand),
          ),
        ]
      : []),
  ];
};

const reconciledLine = ({ reconciliations, secondsToReconcile }: LedgerTotals): string => {
  if (reconciliations.length === 0) return '';
  const open = reconciliations.filter(({ reconciledAt }) => reconciledAt === null).length;
  const mean =
    secondsToReconcile === null ? '' : `; ${formatSpan(secondsToReconcile)} on average to reconcile`;
  const left = open === 0 ? '' : `; ${open} open`;
  return `\n${plural(reconciliations.length, 'failed compensation')}${mean}${left}\n`;
};

const byHandLine = ({ all }: LedgerTotals): string => {
  const count = all.reduce((sum, { byHandEffects }) => sum + byHandEffects, 0);
  return count === 0
    ? ''
    : `\n${plural(count, 'effect was', 'effects were')} undone by hand, and NET still holds what they moved: see evidence with --effects --status resolved --json.\n`;
};

export const totalsTables = (totals: LedgerTotals, paint: Paint, zone?: string): string => {
  if (totals.all.length === 0) return `No effects.\n${reconciledLine(totals)}`;
  const { all, byTool, byAgent, byDay, byStatus } = totals;
  const columns = totalColumns(all);
  const totalsTable = (head: string, sums: readonly LedgerTotal[]): string =>
    table(
      [{ head }, ...columns],
      sums.map((one) => [printableLine(one.key ?? 'all'), ...columns.map(({ cell }) => cell(one))]),
      paint,
    );
  const tables = [
    totalsTable('TOTAL', all),
    totalsTable('TOOL', byTool),
    totalsTable('AGENT', byAgent),
    totalsTable(zone === undefined ? 'DAY' : `DAY (${zone})`, byDay),
    totalsTable('STATUS', byStatus),
  ];
  return `${tables.join('\n')}${byHandLine(totals)}${reconciledLine(totals)}`;
};
