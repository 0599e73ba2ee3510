import { LEDGER_COLUMNS, type LedgerRow } from './ledger-row.ts';

/** A spreadsheet runs cells that begin like this; an apostrophe makes them text. */
const FORMULA = /^[=+\-@\t\r]/;

const cell = (value: string | number | null): string => {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  return `"${(FORMULA.test(value) ? `'${value}` : value).replaceAll('"', '""')}"`;
};

/** RFC 4180 with a header line; no cell is taken for a formula. */
export const toCsv = (rows: readonly LedgerRow[]): string =>
  [LEDGER_COLUMNS.join(','), ...rows.map((row) => LEDGER_COLUMNS.map((name) => cell(row[name])).join(','))]
    .map((line) => `${line}\r\n`)
    .join('');
