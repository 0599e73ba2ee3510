import type { Command } from 'commander';
import type { Finding } from '../../core/saga/ledger/audit.ts';
import { verifySaga } from '../../core/saga/ledger/verify-saga.ts';
import type { Answer, App, Run } from '../app.ts';
import { withConnection } from '../app.ts';
import { CliError, isCliError } from '../failure.ts';
import { parseDay, parseId } from '../options.ts';
import { readDay, readSaga } from './ledger-evidence.ts';

const SHOWN = 50;

const lineOf = ({ sagaId, where, message }: Finding): string => `Saga ${sagaId}, ${where}: ${message}.`;

const brokenBy = (findings: readonly Finding[], details: Record<string, unknown>): CliError => {
  const lines = findings.slice(0, SHOWN).map(lineOf);
  const more = findings.length - lines.length;
  return new CliError(
    'LedgerBroken',
    [...lines, ...(more > 0 ? [`And ${more} more; --json has all.`] : [])].join('\n'),
    {
      hint: 'docs/operations.md, "When the ledger does not verify"',
      details: { ...details, findings },
    },
  );
};

const verifyOne = async (run: Run, sagaId: string): Promise<Answer> => {
  const stored = await run.progress('Reading the ledger', () => readSaga(run, sagaId));
  const value = { sagaId, entries: stored.entries.length, hash: stored.entries.at(-1)?.hash ?? null };
  const findings = verifySaga(stored);
  if (findings.length > 0) throw brokenBy(findings, value);
  return {
    value,
    text: () =>
      `${run.paint.green('✔')} ${value.entries} entries, the chain holds ${run.paint.dim(value.hash ?? '')}\n`,
  };
};

const verifyStored = async (run: Run, sagaId: string) => {
  try {
    const stored = await readSaga(run, sagaId);
    return { entries: stored.entries.length, findings: verifySaga(stored) };
  } catch (error) {
    if (!isCliError(error, 'SagaNotFound')) throw error;
    return { entries: 0, findings: [{ sagaId, where: 'ledger', message: 'is gone, with its head' }] };
  }
};

const verifyDay = async (run: Run, day: string): Promise<Answer> => {
  const { sagas, findings } = await run.progress(`Reading the ledger of ${day}`, () => readDay(run, day));
  let entries = 0;
  let done = 0;
  for (const sagaId of sagas) {
    done += 1;
    const seen = await run.progress(`Verifying saga ${done} of ${sagas.size}`, () =>
      verifyStored(run, sagaId),
    );
    entries += seen.entries;
    findings.push(...seen.findings);
  }
  const unique = [...new Map(findings.map((finding) => [lineOf(finding), finding])).values()];
  const value = { day, sagas: sagas.size, entries };
  if (unique.length > 0) throw brokenBy(unique, value);
  return {
    value: { ...value, findings: [] },
    text: () =>
      `${run.paint.green('✔')} ${day}: ${sagas.size} sagas, ${entries} entries, all as they were written\n`,
  };
};

interface Which {
  all?: boolean;
  day?: string;
}

export const addLedgerVerify = (parent: Command, app: App): void => {
  parent
    .command('verify')
    .argument('[saga]', 'saga id', parseId)
    .option('--all', 'every saga that moved on --day')
    .option('--day <day>', 'YYYY-MM-DD in UTC', parseDay)
    .description('check that what is stored of a saga is what was written; exit code 1 when it is not')
    .action((sagaId: string | undefined, { all, day }: Which, command: Command) => {
      if (sagaId !== undefined && all === undefined && day === undefined) {
        return withConnection(app, command, (run) => verifyOne(run, sagaId));
      }
      if (sagaId === undefined && all === true && day !== undefined) {
        return withConnection(app, command, (run) => verifyDay(run, day));
      }
      throw new CliError(
        'InvalidInput',
        'Say which: `ledger verify SAGA`, or `ledger verify --all --day YYYY-MM-DD`.',
      );
    });
};
