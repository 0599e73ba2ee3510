import type { Command } from 'commander';
import type { ExportReport } from '../../contract/ledger-export.ts';
import { plural } from '../../core/shared/plural.ts';
import type { App, Run } from '../app.ts';
import { withConnection } from '../app.ts';
import { parseDay } from '../options.ts';

interface Range {
  from: string;
  to?: string;
}

/** Repeats the call until all days are exported. */
const backfill = async (run: Run, range: Range): Promise<Omit<ExportReport, 'cursor'>> => {
  const sum = { sagas: 0, written: 0, kept: 0 };
  let cursor: string | undefined;
  do {
    const answer = await run.invoke('walkback-export-ledger', {
      ...range,
      ...(cursor === undefined ? {} : { cursor }),
    });
    sum.sagas += answer.sagas;
    sum.written += answer.written;
    sum.kept += answer.kept;
    cursor = answer.cursor;
  } while (cursor !== undefined);
  return sum;
};

export const addLedgerBackfill = (parent: Command, app: App): void => {
  parent
    .command('backfill')
    .description('export again the sagas that moved in these days, for queries with Athena')
    .requiredOption('--from <day>', 'the first day, YYYY-MM-DD in UTC', parseDay)
    .option('--to <day>', 'the last day; without it: today', parseDay)
    .action((range: Range, command: Command) =>
      withConnection(app, command, async (run) => {
        const sum = await run.progress('Exporting the ledger', () => backfill(run, range));
        const text = `${plural(sum.sagas, 'saga')}: ${plural(sum.written, 'object')} written, ${plural(sum.kept, 'was as it', 'were as they')} had to be\n`;
        return { value: sum, text: () => text };
      }),
    );
};
