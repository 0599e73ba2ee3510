import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import type { LedgerRow } from '../../contract/saga-answers.ts';
import type { QueryLedgerInput } from '../../contract/saga-inputs.ts';
import { BYTE_ORDER_MARK, toCsv } from '../../core/saga/ledger/csv.ts';
import type { App, Run } from '../app.ts';
import { withConnection } from '../app.ts';
import { parseId, parseWholeNumber } from '../options.ts';
import { ledgerTable } from '../view/ledger-views.ts';

interface Which {
  saga?: string;
  status?: string;
  ref?: string;
  day?: string;
}

const PAGE = 500;

const queryOf = ({ saga, status, ref, day }: Which): QueryLedgerInput => ({
  ...(saga === undefined ? {} : { sagaId: saga }),
  ...(status === undefined ? {} : { status }),
  ...(ref === undefined ? {} : { externalRef: ref }),
  ...(day === undefined ? {} : { day }),
});

/** Every page, up to `limit` entries; oldest first. */
const readEntries = async (
  run: Run,
  query: QueryLedgerInput,
  limit = Number.POSITIVE_INFINITY,
): Promise<LedgerRow[]> => {
  const rows: LedgerRow[] = [];
  let cursor: string | undefined;
  do {
    const answer = await run.invoke('walkback-query-ledger', {
      ...query,
      limit: Math.min(PAGE, limit - rows.length),
      ...(cursor === undefined ? {} : { cursor }),
    });
    rows.push(...(answer.entries ?? []));
    cursor = answer.cursor;
  } while (cursor !== undefined && rows.length < limit);
  return rows.slice(0, limit);
};

const withWhich = (command: Command): Command =>
  command
    .option('--saga <id>', 'of this saga', parseId)
    .option(
      '--status <status>',
      'of sagas in this status (COMPENSATION_FAILED), or entries of this status (rejected)',
    )
    .option('--ref <reference>', "with this reference of a provider, like a refund's id")
    .option('--day <day>', 'outcomes of this day, YYYY-MM-DD in UTC');

export const addLedgerQuery = (parent: Command, app: App): void => {
  withWhich(parent.command('query').description('show entries, oldest first'))
    .option('-n, --limit <n>', 'at most this many', parseWholeNumber(1, 100_000), 200)
    .option('--csv', 'as CSV')
    .action((options: Which & { limit: number; csv?: boolean }, command: Command) =>
      withConnection(app, command, async (run) => {
        const rows = await run.progress('Reading the ledger', () =>
          readEntries(run, queryOf(options), options.limit),
        );
        return {
          value: { entries: rows },
          text: () => (options.csv === true ? toCsv(rows) : ledgerTable(rows, run.paint)),
        };
      }),
    );
};

export const addLedgerExport = (parent: Command, app: App): void => {
  withWhich(
    parent
      .command('export')
      .argument('<file>', 'CSV file to write')
      .option('--bom', 'begin with a byte order mark, so that Excel takes it for UTF-8')
      .description('write all entries to a CSV file that a spreadsheet opens safely'),
  ).action((file: string, options: Which & { bom?: boolean }, command: Command) =>
    withConnection(app, command, async (run) => {
      const rows = await run.progress('Reading the ledger', () => readEntries(run, queryOf(options)));
      // Finance data: for the owner of the file only.
      const mark = options.bom === true ? BYTE_ORDER_MARK : '';
      await writeFile(file, `${mark}${toCsv(rows)}`, { mode: 0o600 });
      return { value: { file, entries: rows.length }, text: () => `${rows.length} entries in ${file}\n` };
    }),
  );
};
