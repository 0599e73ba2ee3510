/** The ledger as CSV, read by a parser that is not ours. What agents and providers wrote runs in no spreadsheet. */

import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toCsv } from '../../core/saga/ledger/csv.ts';
import { LEDGER_COLUMNS } from '../../core/saga/ledger/ledger-row.ts';
import { ledgerRow } from '../support/ledger-world.ts';
import { runCommand } from '../support/recording-app.ts';
import { chosenSeed } from '../support/sampling.ts';

const ROW = ledgerRow();

const records = (csv: string): Record<string, string>[] =>
  parse(csv, { columns: true, bom: true, relax_column_count: false, record_delimiter: '\r\n' });

const cellOf = (value: string): string => records(toCsv([{ ...ROW, error: value }]))[0]?.['error'] ?? '';

/**
 * As a spreadsheet decides it, and as one that splits lines without looking at quotes does. One that separates cells by semicolons
 * meets the quotes in the middle of a cell, and takes them for text; a pair of them at the start of a cell is nothing.
 */
const runs = (cell: string): boolean =>
  cell
    .split(/[\r\n\u0085\u2028\u2029;]/)
    .some((piece) => /^[=+\-@＝＋－＠﹢﹣﹦﹫]/u.test(piece.replace(/^[\s\p{Cc}\p{Cf}"]+/u, '')));

describe('the ledger as CSV', () => {
  test.each([
    '=HYPERLINK("http://evil","x")',
    '+1,"2"',
    '-2+3',
    '@SUM(1)',
    '\n=1+1',
    '\r\n=1+1',
    '\t=1+1',
    '\r=1+1',
    ' =1+1',
    '\uFEFF=1+1',
    '\u200B=1+1',
    '\u00A0=1+1',
    '＝1+1',
    '＋1',
    '－1',
    '＠SUM(1)',
    'refused:\n=1+1',
    'refused:\n  ＝1+1\n@x',
    'x;=cmd|calc!A0;y',
    'x; "=1+1',
    '"@SUM(1)',
  ])('opens %j in a spreadsheet without running anything', (value) => {
    const cell = cellOf(value);
    expect(runs(cell)).toBe(false);
    expect(cell.replaceAll("'", '')).toBe(value);
  });

  test.each(['\ttext', '\rtext', '\ntext', '\t', "'=1"])('takes %j for text', (value) => {
    expect(cellOf(value).startsWith("'")).toBe(true);
  });

  test.each([
    're_1',
    'a=b',
    '5 - 3',
    'ada@example.com',
    '{"a":-1}',
    'two\nlines',
    'one; two',
    'Ärger ≠ 日本',
  ])('leaves %j as it is', (value) => expect(cellOf(value)).toBe(value));

  test('keeps every row, column and character of any text, and no line of a cell begins a formula', () => {
    const seed = chosenSeed();
    const nasty = fc.constantFrom(
      '=',
      '+',
      '-',
      '@',
      '＝',
      '＠',
      '\n',
      '\r',
      '\t',
      ' ',
      '"',
      ',',
      "'",
      ';',
      '\uFEFF',
      'a',
      '日',
    );
    const value = fc.oneof(fc.string({ unit: nasty, maxLength: 12 }), fc.string({ unit: 'binary' }));
    fc.assert(
      fc.property(fc.array(fc.tuple(value, value), { maxLength: 4 }), (pairs) => {
        const rows = pairs.map(([actor, error], seq) => ({ ...ROW, seq, actor, error }));
        const read = records(toCsv(rows));
        expect(read).toHaveLength(rows.length);
        for (const [at, row] of rows.entries()) {
          expect(Object.keys(read[at] ?? {})).toEqual([...LEDGER_COLUMNS]);
          for (const name of ['actor', 'error'] as const) {
            const cell = read[at]?.[name] ?? '';
            expect(runs(cell), `seed ${seed}: ${JSON.stringify(cell)}`).toBe(false);
            expect(cell.replaceAll("'", '')).toBe(row[name].replaceAll("'", ''));
          }
        }
      }),
      { seed, numRuns: 500 },
    );
  });
});

test('export writes a byte order mark when it is asked for one, and not else', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-csv-'));
  const file = join(directory.path, 'ledger.csv');
  const answers = { 'walkback-query-ledger': { entries: [{ ...ROW, error: 'Ärger' }] } };
  await runCommand(['ledger', 'export', '--saga', 's', file], { answers });
  const plain = await readFile(file);
  expect(plain.toString().startsWith('saga_id,')).toBe(true);
  await runCommand(['ledger', 'export', '--saga', 's', '--bom', file], { answers });
  expect((await readFile(file)).subarray(0, 3)).toEqual(Buffer.from([0xef, 0xbb, 0xbf]));
  expect(records((await readFile(file)).toString())[0]?.['error']).toBe('Ärger');
});
