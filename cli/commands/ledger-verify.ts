import type { Command } from 'commander';
import { DAY_MS } from '../../contract/times.ts';
import type { Finding } from '../../core/saga/ledger/audit.ts';
import { checkAnchors } from '../../core/saga/ledger/check-anchors.ts';
import type { CheckedDay, DigestFinding } from '../../core/saga/ledger/check-digests.ts';
import { readFamily } from '../../core/saga/ledger/read-family.ts';
import { verifyFamily } from '../../core/saga/ledger/verify-family.ts';
import { verifySaga } from '../../core/saga/ledger/verify-saga.ts';
import type { LedgerEntry } from '../../core/saga/model/ledger-entry.ts';
import { plural } from '../../core/shared/plural.ts';
import type { Answer, App, Run } from '../app.ts';
import { withConnection } from '../app.ts';
import { CliError, isCliError } from '../failure.ts';
import { collectPaths, parseDay, parseId } from '../options.ts';
import { type Digests, openDigests } from './ledger-anchors.ts';
import { readDay, readSaga } from './ledger-evidence.ts';

const SHOWN = 50;
/**
 * A saga may wait for a person for 20 days at a time. This many days after its last entry are searched for a
 * tail that was cut off.
 */
const DAYS_BEHIND = 35;

type AnyFinding = Finding | DigestFinding;

const lineOf = (finding: AnyFinding): string =>
  'digest' in finding
    ? `Digest ${finding.digest}: ${finding.message}.`
    : `Saga ${finding.sagaId}, ${finding.where}: ${finding.message}.`;

const brokenBy = (findings: readonly AnyFinding[], details: Record<string, unknown>): CliError => {
  const lines = findings.slice(0, SHOWN).map(lineOf);
  const more = findings.length - lines.length;
  if (more > 0) lines.push(`And ${more} more; --json has all.`);
  return new CliError('LedgerBroken', lines.join('\n'), {
    hint: 'docs/operations.md, "When the ledger does not verify"',
    details: { ...details, findings },
  });
};

const dayOf = (timeMs: number): string => new Date(timeMs).toISOString().slice(0, 10);

/** The days on which the saga may have been anchored, newest first. */
function* daysOf(run: Run, entries: readonly LedgerEntry[]): Generator<string> {
  const times = entries.map(({ at }) => Date.parse(at)).filter((time) => !Number.isNaN(time));
  if (times.length === 0) return;
  const now = run.terminal.now().getTime();
  // The clock of this machine may be behind that of the cloud.
  const ahead = times.filter((time) => time > now && time <= now + DAYS_BEHIND * DAY_MS);
  const last = Math.max(Math.min(now, Math.max(...times) + DAYS_BEHIND * DAY_MS), ...ahead);
  const first = Date.parse(dayOf(Math.min(...times)));
  for (let at = Date.parse(dayOf(last)); at >= first; at -= DAY_MS) yield dayOf(at);
}

/** A time that was edited may be centuries ago, so no day before the first anchored one is read. */
const digestsOf = async (run: Run, digests: Digests, days: Iterable<string>) => {
  const named: CheckedDay['digests'][] = [];
  for (const day of days) {
    const seen = await run.progress(`Reading the digests of ${day}`, () => digests.of(day));
    named.push(seen.digests);
    // Two days are enough to see that nothing is anchored at all: the first one may have no digest due yet.
    if (seen.firstDay === null ? named.length === 2 : day <= seen.firstDay) break;
  }
  return named.toReversed().flat();
};

const verifyStored = async (run: Run, sagaId: string, digests: Digests, days?: readonly string[]) => {
  const stored = await readSaga(run, sagaId);
  const findings = verifySaga(stored);
  const named = await digestsOf(run, digests, days ?? daysOf(run, stored.entries));
  const { anchored, findings: unanchored } = checkAnchors(sagaId, stored.entries, named);
  return { entries: stored.entries, findings: [...findings, ...unanchored], anchored };
};

/** A saga and those below it, each with its digests. A saga that was named and does not exist yet is left out. */
const readTree = (run: Run, top: string, digests: Digests) =>
  readFamily(
    top,
    async (sagaId) => {
      const label = sagaId === top ? 'Verifying' : `Verifying ${sagaId}`;
      try {
        return await run.progress(label, () => verifyStored(run, sagaId, digests));
      } catch (error) {
        if (sagaId === top || !isCliError(error, 'SagaNotFound')) throw error;
        return undefined;
      }
    },
    1,
  );

const verifyOne = async (run: Run, sagaId: string, keys: readonly string[]): Promise<Answer> => {
  const digests = await openDigests(run, keys);
  const tree = await readTree(run, sagaId, digests);
  const { entries = [], anchored = null } = tree.get(sagaId) ?? {};
  const links = verifyFamily(new Map([...tree].map(([one, seen]) => [one, seen.entries])));
  const value = {
    sagaId,
    entries: entries.length,
    hash: entries.at(-1)?.hash ?? null,
    anchored,
    children: tree.size - 1,
  };
  const findings = [...[...tree.values()].flatMap((seen) => seen.findings), ...links, ...digests.findings()];
  if (findings.length > 0) throw brokenBy(findings, value);
  const { green, dim } = run.paint;
  const where =
    anchored === null ? 'not anchored yet, the next digests hold it' : `anchored up to entry ${anchored}`;
  const { children } = value;
  const family =
    children === 0
      ? ''
      : `  and those of ${plural(children, 'saga')} below it, which name each other as they are\n`;
  return {
    value,
    text: () =>
      `${green('✔')} ${plural(value.entries, 'entry', 'entries')}, the chain holds ${dim(value.hash ?? '')}\n  ${where}\n${family}`,
  };
};

const verifyOfDay = async (run: Run, sagaId: string, digests: Digests, day: string) => {
  try {
    return await verifyStored(run, sagaId, digests, [day]);
  } catch (error) {
    if (!isCliError(error, 'SagaNotFound')) throw error;
    return { entries: [], findings: [{ sagaId, where: 'ledger', message: 'is gone, with its head' }] };
  }
};

const verifyDay = async (run: Run, day: string, keys: readonly string[]): Promise<Answer> => {
  const digests = await openDigests(run, keys);
  const { sagas, findings } = await run.progress(`Reading the ledger of ${day}`, () => readDay(run, day));
  const { digests: named } = await run.progress(`Reading the digests of ${day}`, () => digests.of(day));
  for (const { digest } of named) for (const sagaId of Object.keys(digest.tips)) sagas.add(sagaId);
  let entries = 0;
  let done = 0;
  for (const sagaId of sagas) {
    done += 1;
    const label = `Verifying saga ${done} of ${sagas.size}`;
    const seen = await run.progress(label, () => verifyOfDay(run, sagaId, digests, day));
    entries += seen.entries.length;
    findings.push(...seen.findings);
  }
  const all = [...findings, ...digests.findings()];
  const unique = [...new Map(all.map((finding) => [lineOf(finding), finding])).values()];
  const value = { day, sagas: sagas.size, entries, digests: named.length };
  if (unique.length > 0) throw brokenBy(unique, value);
  const what = [
    plural(sagas.size, 'saga'),
    plural(entries, 'entry', 'entries'),
    plural(named.length, 'digest'),
  ].join(', ');
  return {
    value: { ...value, findings: [] },
    text: () => `${run.paint.green('✔')} ${day}: ${what}, all as they were written\n`,
  };
};

interface Which {
  all?: boolean;
  day?: string;
  publicKey?: string[];
}

export const addLedgerVerify = (parent: Command, app: App): void => {
  parent
    .command('verify')
    .argument('[saga]', 'saga id', parseId)
    .option('--all', 'every saga that moved on --day')
    .option('--day <day>', 'YYYY-MM-DD in UTC', parseDay)
    .option(
      '--public-key <file>',
      'PEM of a key that may have signed digests; no other key is trusted; may be repeated',
      collectPaths,
    )
    .description('check that what is stored of a saga is what was written; exit code 1 when it is not')
    .action((sagaId: string | undefined, { all, day, publicKey = [] }: Which, command: Command) => {
      if (sagaId !== undefined && all === undefined && day === undefined) {
        return withConnection(app, command, (run) => verifyOne(run, sagaId, publicKey));
      }
      if (sagaId === undefined && all === true && day !== undefined) {
        return withConnection(app, command, (run) => verifyDay(run, day, publicKey));
      }
      throw new CliError(
        'InvalidInput',
        'Say which: `ledger verify SAGA`, or `ledger verify --all --day YYYY-MM-DD`.',
      );
    });
};
