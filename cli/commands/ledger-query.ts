import { writeFile } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { EFFECT_STATUSES, ENTRY_STATUSES } from '../../contract/ledger-answers.ts';
import type { QueryLedgerInput } from '../../contract/saga-inputs.ts';
import { SAGA_STATUSES } from '../../contract/saga-observation.ts';
import { BYTE_ORDER_MARK, effectsCsv, toCsv, totalsCsv } from '../../core/saga/ledger/csv.ts';
import { plural } from '../../core/shared/plural.ts';
import type { App, Run } from '../app.ts';
import { withConnection } from '../app.ts';
import { CliError } from '../failure.ts';
import { writingNamedFile } from '../named-files.ts';
import { parseDay, parseDayOrTime, parseId, parseWholeNumber, parseZone } from '../options.ts';
import { helpText } from '../terminal/help-text.ts';
import { effectsTable, ledgerTable, totalsTables } from '../view/ledger-views.ts';
import { readEffects, readEntries, readTotals } from './ledger-pages.ts';

interface Which {
  saga?: string;
  status?: QueryLedgerInput['status'];
  ref?: string;
  key?: string;
  day?: string;
  from?: string;
  to?: string;
  tool?: string;
  agent?: string;
  reference?: string;
  doubt?: boolean;
  zone?: string;
  asOf?: string;
  undoneFrom?: string;
  undoneTo?: string;
  effects?: boolean;
  totals?: boolean;
  below?: boolean;
}

const queryOf = ({
  saga,
  status,
  ref,
  key,
  day,
  from,
  to,
  tool,
  agent,
  reference,
  doubt,
  zone,
  asOf,
  undoneFrom,
  undoneTo,
}: Which): QueryLedgerInput => ({
  ...(saga === undefined ? {} : { sagaId: saga }),
  ...(status === undefined ? {} : { status }),
  ...(ref === undefined ? {} : { externalRef: ref }),
  ...(key === undefined ? {} : { idempotencyKey: key }),
  ...(day === undefined ? {} : { day }),
  ...(from === undefined ? {} : { from }),
  ...(to === undefined ? {} : { to }),
  ...(tool === undefined ? {} : { tool }),
  ...(agent === undefined ? {} : { agent }),
  ...(reference === undefined ? {} : { reference }),
  ...(doubt === undefined ? {} : { doubt }),
  ...(zone === undefined ? {} : { zone }),
  ...(asOf === undefined ? {} : { asOf }),
  ...(undoneFrom === undefined ? {} : { undoneFrom }),
  ...(undoneTo === undefined ? {} : { undoneTo }),
});

const withWhich = (command: Command): Command =>
  command
    .option('--saga <id>', 'of this saga; only with --below also of the sagas that it runs as steps', parseId)
    .option('--below', 'with --saga, for effects and totals: also all sagas below it')
    .option(
      '--status <status>',
      `of sagas in this status (COMPENSATION_FAILED), or entries of this status (rejected); effects: ${EFFECT_STATUSES.join(', ')}`,
    )
    .option('--ref <reference>', "with this reference of a provider, like a refund's id")
    .option('--key <key>', 'entries of the calls that were made with this idempotency key')
    .option('--day <day>', 'of this day, YYYY-MM-DD', parseDay)
    .option(
      '--from <day>',
      'from this day, or this time with its offset, on; without it: the week that ends with --to',
      parseDayOrTime,
    )
    .option(
      '--to <day>',
      'up to the end of this day, or up to this time; without it: up to today',
      parseDayOrTime,
    )
    .option(
      '--zone <zone>',
      'days and times are those of this time zone, as Europe/Berlin (default: UTC)',
      parseZone,
    )
    .option('--as-of <day>', 'effects and totals as they stood at the end of this day', parseDayOrTime)
    .option(
      '--undone-from <day>',
      'effects that were undone from this day on, by the day of their undo',
      parseDayOrTime,
    )
    .option('--undone-to <day>', 'up to the end of this day; without it: up to today', parseDayOrTime)
    .option('--effects', 'each effect and its undo in one row')
    .addOption(new Option('--totals', 'sums of these effects, by tool, agent and day').conflicts('effects'))
    .option('--tool <name>', 'effects of this tool')
    .option('--agent <name>', 'effects of the sagas that this agent started')
    .option('--reference <text>', 'effects with this resource key or reference, like that of a customer')
    .option('--doubt', 'effects of which nobody knows whether they happened, whatever became of them');

interface Read {
  value: { readonly [view: string]: unknown };
  csv: () => string;
  text: () => string;
  count: string;
  /** There are more rows than these. */
  isCut?: boolean;
  /** Sagas that the requested one runs as steps. Their effects are not included. */
  below?: readonly string[];
}

/**
 * A query names only one place to begin, as in the function. Checked here too, because the function does not
 * know the command's options.
 */
const requireOnePlace = (which: Which): void => {
  const { saga, ref, status, day, from, to, below } = which;
  if (below === true && (saga === undefined || !(which.totals === true || isOfEffects(which)))) {
    throw new CliError('InvalidInput', '--below goes with --saga, and with --effects or --totals.');
  }
  const days = [
    ...(day === undefined ? [] : ['--day']),
    ...(from === undefined ? [] : ['--from']),
    ...(to === undefined ? [] : ['--to']),
    ...(which.undoneFrom === undefined ? [] : ['--undone-from']),
    ...(which.undoneTo === undefined ? [] : ['--undone-to']),
  ];
  if (day !== undefined && (from ?? to) !== undefined) {
    throw new CliError('InvalidInput', '--day is one day: leave it out with --from and --to.');
  }
  const isStatus = status !== undefined && which.totals !== true && !isOfEffects(which);
  const places = [
    ...(saga === undefined ? [] : ['--saga']),
    ...(ref === undefined ? [] : ['--ref']),
    ...(which.key === undefined ? [] : ['--key']),
    ...days.slice(0, 1),
    ...(isStatus && days.length === 0 ? ['--status'] : []),
  ];
  if (places.length < 2) return;
  throw new CliError('InvalidInput', `${places.join(' and ')} do not go together.`, {
    hint: 'ask for one saga, one reference, or days (without any: the last seven); of entries, --status goes with days or alone',
  });
};

/** Statuses as the functions accept them: those of sagas in capitals; entries and effects each have their own. */
const requireStatus = (which: Which): void => {
  const { status } = which;
  const isEffects = which.totals === true || isOfEffects(which);
  const known: readonly string[] = isEffects ? EFFECT_STATUSES : [...SAGA_STATUSES, ...ENTRY_STATUSES];
  if (status === undefined || known.includes(status)) return;
  const isOther = !isEffects && EFFECT_STATUSES.some((one) => one === status);
  throw new CliError(
    'InvalidInput',
    `--status ${status} is no status of ${isEffects ? 'effects' : 'sagas or entries'}.`,
    {
      hint: isOther ? 'effects have it: add --effects' : `choose one of ${known.join(', ')}`,
    },
  );
};

const isOfEffects = (which: Which): boolean => {
  const { effects, tool, agent, reference, doubt, asOf, undoneFrom, undoneTo } = which;
  return (
    effects === true || (tool ?? agent ?? reference ?? doubt ?? asOf ?? undoneFrom ?? undoneTo) !== undefined
  );
};

/** States the zone and the day that were asked for, because a table leaves its command. */
const stated = (text: string, { zone, asOf, undoneFrom, undoneTo }: Which): string => {
  const said = [
    ...(zone === undefined ? [] : [`Days and times are those of ${zone}.`]),
    ...(asOf === undefined ? [] : [`As of ${asOf.includes('T') ? asOf : `the end of ${asOf}`}.`]),
    ...((undoneFrom ?? undoneTo) === undefined ? [] : ['By the day of the undo.']),
  ];
  return said.length === 0 ? text : `${text}\n${said.join(' ')}\n`;
};

/** Filters that only effects have select effects by themselves. */
const read = async (run: Run, which: Which, limit?: number): Promise<Read> => {
  const query = queryOf(which);
  if (which.totals === true) {
    const { totals, below } = await readTotals(run, query, which.below);
    const text = () => stated(totalsTables(totals, run.paint, query.zone), which);
    const value = { totals, ...(below.length === 0 ? {} : { below }) };
    return { value, csv: () => totalsCsv(totals, query), text, count: 'Totals', below };
  }
  if (isOfEffects(which)) {
    const { rows, below, isCut, cursor } = await readEffects(run, query, { limit, isDeep: which.below });
    return {
      value: {
        effects: rows,
        ...(below.length === 0 ? {} : { below }),
        // No cursor covers several sagas.
        ...(which.below === true ? { hasMore: isCut } : {}),
        ...(cursor === undefined || which.below === true ? {} : { cursor }),
      },
      csv: () => effectsCsv(rows, query),
      text: () => stated(effectsTable(rows, run.paint, query.zone), which),
      count: plural(rows.length, 'effect'),
      isCut,
      below,
    };
  }
  const { rows, ...more } = await readEntries(run, query, limit);
  return {
    value: { entries: rows, ...more },
    csv: () => toCsv(rows, query),
    text: () => stated(ledgerTable(rows, run.paint, run.width, query.zone), which),
    count: plural(rows.length, 'entry', 'entries'),
    isCut: more.cursor !== undefined,
  };
};

const MOST = 100_000;

/** How to get the rest. */
const moreNote = (count: string, limit: number): string => {
  const larger = limit < MOST ? `add --limit ${Math.min(MOST, limit * 10)}, or ` : '';
  return `these are the first ${count}, and there are more: ${larger}write all to a file with walkback ledger export FILE and the same options`;
};

/** Says that this is not all, for anyone who adds up the money of a saga. */
const belowNote = (run: Run, { below = [] }: Read): void => {
  if (below.length === 0) return;
  const what = plural(below.length, 'saga', 'sagas');
  run.note(
    run.paint.yellow(
      `! it runs ${what} as ${below.length === 1 ? 'a step' : 'steps'}, and what they did is not in this: add --below`,
    ),
  );
};

const OF_DAYS = `
For days, only outcomes are listed. The starts of calls are among the entries of their
saga (--saga).`;

const QUERY_HELP = `
Examples:
  walkback ledger query --saga s-1
  walkback ledger query --ref re_123
  walkback ledger query --effects --from 2026-01-01 --status stands
  walkback ledger query --totals --to 2026-01-31 --as-of 2026-01-31
${OF_DAYS}`;

const EXPORT_HELP = `
Examples:
  walkback ledger export january.csv --from 2026-01-01 --to 2026-01-31
  walkback ledger export sums.csv --totals --from 2026-01-01 --bom
${OF_DAYS}`;

export const addLedgerQuery = (parent: Command, app: App): void => {
  withWhich(parent.command('query').description('show entries, effects or totals, oldest first'))
    .addHelpText('after', helpText(QUERY_HELP))
    .option('-n, --limit <n>', 'at most this many rows; totals are of all', parseWholeNumber(1, MOST), 200)
    .option('--csv', 'as CSV')
    .action((options: Which & { limit: number; csv?: boolean }, command: Command) => {
      requireStatus(options);
      requireOnePlace(options);
      return withConnection(app, command, async (run) => {
        const seen = await run.progress('Reading the ledger', () => read(run, options, options.limit));
        const { value, csv, text, count, isCut } = seen;
        belowNote(run, seen);
        if (isCut === true) run.note(run.paint.dim(moreNote(count, options.limit)));
        return { value, text: options.csv === true ? csv : text };
      });
    });
};

export const addLedgerExport = (parent: Command, app: App): void => {
  withWhich(
    parent
      .command('export')
      .argument('<file>', 'CSV file to write')
      .option('--bom', 'begin with a byte order mark, so that Excel takes it for UTF-8')
      .description('write all entries, effects or totals to a CSV file that a spreadsheet opens safely')
      .addHelpText('after', helpText(EXPORT_HELP)),
  ).action((file: string, options: Which & { bom?: boolean }, command: Command) => {
    requireStatus(options);
    requireOnePlace(options);
    return withConnection(app, command, async (run) => {
      const seen = await run.progress('Reading the ledger', () => read(run, options));
      const { csv, count, value } = seen;
      belowNote(run, seen);
      // Finance data, so only the owner may read the file.
      const mark = options.bom === true ? BYTE_ORDER_MARK : '';
      await writingNamedFile(file, () => writeFile(file, `${mark}${csv()}`, { mode: 0o600 }));
      const counts = Object.entries(value).map(([name, rows]) => [
        name,
        Array.isArray(rows) ? rows.length : true,
      ]);
      return { value: { file, ...Object.fromEntries(counts) }, text: () => `${count} in ${file}\n` };
    });
  });
};
