import type { LedgerRow } from '../../../contract/saga-answers.ts';
import { LEDGER_COLUMNS } from './ledger-row.ts';

/**
 * Matches where a spreadsheet could take a text for a formula: at the start of a cell and of each of its
 * lines, behind blanks and invisible marks, and with the full-width forms that some programs accept. An
 * apostrophe in front makes it plain text.
 */
const FORMULA = /^[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠﹢﹣﹦﹫]/u;
const LINE = /[^\r\n\u0085\u2028\u2029]+/g;
/** Some programs treat these as a command of their own, whatever follows. */
const BLANK = /^[\t\r\n]/;

const asText = (value: string): string => {
  const marked = value.replaceAll(LINE, (line) => (FORMULA.test(line) ? `'${line}` : line));
  return BLANK.test(marked) ? `'${marked}` : marked;
};

const cell = (value: string | number | null | undefined): string => {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  return `"${asText(value).replaceAll('"', '""')}"`;
};

/** Tells Excel that the file is UTF-8. */
export const BYTE_ORDER_MARK = '\uFEFF';

/** RFC 4180 with a header line; no cell, and no line of one, is taken for a formula. */
export const toCsv = (rows: readonly LedgerRow[]): string =>
  [LEDGER_COLUMNS.join(','), ...rows.map((row) => LEDGER_COLUMNS.map((name) => cell(row[name])).join(','))]
    .map((line) => `${line}\r\n`)
    .join('');
