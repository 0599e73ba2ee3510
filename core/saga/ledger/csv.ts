import { AMOUNT_DIRECTIONS } from '../../../contract/amount-direction.ts';
import type { LedgerEffect, LedgerTotals } from '../../../contract/ledger-answers.ts';
import type { LedgerRow } from '../../../contract/ledger-query.ts';
import { dayIn } from '../../../contract/zones.ts';
import { LEDGER_COLUMNS } from './ledger-row.ts';

/**
 * Matches a text that a spreadsheet could take for a formula. It may begin at the start of a cell or of any
 * of its lines, after blanks, quotes and invisible marks, and may use the full-width forms that some programs
 * accept. An apostrophe in front makes it plain text.
 *
 * Where the decimal mark is a comma, some programs split a cell at every semicolon, also inside quotes. Each
 * piece can then be a formula too.
 */
const FORMULA = /^[\s\p{Cc}\p{Cf}"]*[=+\-@＝＋－＠﹢﹣﹦﹫]/u;
const PIECE = /[^\r\n\u0085\u2028\u2029;]+/g;
/** Some programs treat these characters at the start of a cell as a command, whatever follows. */
const BLANK = /^[\t\r\n]/;

const asText = (value: string): string => {
  const marked = value.replaceAll(PIECE, (piece) => (FORMULA.test(piece) ? `'${piece}` : piece));
  return BLANK.test(marked) ? `'${marked}` : marked;
};

const cell = (value: string | number | null | undefined): string => {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  return `"${asText(value).replaceAll('"', '""')}"`;
};

const MOVED_COLUMNS = AMOUNT_DIRECTIONS.flatMap((direction) => [
  direction,
  `${direction}_undone`,
  `${direction}_by_hand`,
]);

/** A negative amount looks like a formula but is a number. Only our own columns are trusted to hold one. */
const AMOUNTS = new Set(['amount', 'undone_amount', 'net', ...MOVED_COLUMNS]);
const DECIMAL = /^-?\d+(\.\d+)?$/;

const columnCell = (name: string, value: string | number | null | undefined): string =>
  AMOUNTS.has(name) && typeof value === 'string' && DECIMAL.test(value) ? value : cell(value);

/** Tells Excel that the file is UTF-8. */
export const BYTE_ORDER_MARK = '\uFEFF';

type Cells = { readonly [name: string]: string | number | null | undefined };

/** RFC 4180 with a header line. No cell, and no line in one, can be taken for a formula. */
const csvOf = (columns: readonly string[], rows: readonly Cells[]): string =>
  [columns.join(','), ...rows.map((row) => columns.map((name) => columnCell(name, row[name])).join(','))]
    .map((line) => `${line}\r\n`)
    .join('');

/** The zone and the day that were asked for. A file states them in columns, because it leaves its command. */
export interface AskedTime {
  zone?: string | undefined;
  asOf?: string | undefined;
}

const askedColumns = ({ zone, asOf }: AskedTime): Cells => ({
  ...(zone === undefined ? {} : { zone }),
  ...(asOf === undefined ? {} : { as_of: asOf }),
});

/** `atOf`: the time whose day in the zone is stated too. */
const statedCsv = <Row extends Cells>(
  columns: readonly string[],
  rows: readonly Row[],
  asked: AskedTime,
  atOf?: (row: Row) => string,
): string => {
  const { zone } = asked;
  const more = askedColumns(asked);
  const isDay = zone !== undefined && atOf !== undefined;
  return csvOf(
    [...columns, ...(isDay ? ['day'] : []), ...Object.keys(more)],
    rows.map((row) => ({ ...row, ...(isDay ? { day: dayIn(zone, atOf(row)) } : {}), ...more })),
  );
};

export const toCsv = (rows: readonly LedgerRow[], asked: AskedTime = {}): string =>
  statedCsv(LEDGER_COLUMNS, rows, asked, ({ at }) => at);

/** Column order of tables and CSV. */
const EFFECT_COLUMNS = [
  'saga_id',
  'step_index',
  'epoch',
  'step',
  'tool',
  'version',
  'agent',
  'resource_key',
  'external_ref',
  'status',
  'amount',
  'currency',
  'amount_direction',
  'amount_problem',
  'committed_at',
  'committed_seq',
  'undone_at',
  'undone_seq',
  'undone_by',
  'undone_ref',
  'undone_amount',
  'undone_currency',
  'undone_problem',
  'residue',
  'failed_at',
  'error',
  'evidence',
  'doubt',
  'external_url',
  'undone_by_proof',
] as const satisfies readonly (keyof LedgerEffect)[];

export const effectsCsv = (rows: readonly LedgerEffect[], asked: AskedTime = {}): string =>
  statedCsv(EFFECT_COLUMNS, rows, asked, ({ committed_at: at }) => at);

const TOTAL_COLUMNS = [
  'by',
  'key',
  'currency',
  'effects',
  'undone_effects',
  'by_hand_effects',
  ...MOVED_COLUMNS,
  'net',
];

/** One line for each sum, with what it is grouped by. The time to reconcile is not included. */
export const totalsCsv = (
  { all, byTool, byAgent, byDay, byStatus }: LedgerTotals,
  asked: AskedTime = {},
): string => {
  const parts = { all, tool: byTool, agent: byAgent, day: byDay, status: byStatus };
  const rows = Object.entries(parts).flatMap(([by, totals]) =>
    totals.map(({ key, currency, effects, undoneEffects, byHandEffects, net, ...moved }) => ({
      by,
      key,
      currency,
      effects,
      undone_effects: undoneEffects,
      by_hand_effects: byHandEffects,
      ...Object.fromEntries(
        AMOUNT_DIRECTIONS.flatMap((direction) => [
          [direction, moved[direction].amount],
          [`${direction}_undone`, moved[direction].undone],
          [`${direction}_by_hand`, moved[direction].byHand],
        ]),
      ),
      net,
    })),
  );
  return statedCsv(TOTAL_COLUMNS, rows, asked);
};
