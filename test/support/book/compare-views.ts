/** The same rows everywhere: filters, pages, sums, CSV, and the objects of the export, whenever each was made. */
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'csv-parse/sync';
import type { LedgerEffect, LedgerTotals } from '../../../contract/ledger-answers.ts';
import type { QueryLedgerInput } from '../../../contract/saga-inputs.ts';
import { effectsCsv, totalsCsv } from '../../../core/saga/ledger/csv.ts';
import { createExportSaga } from '../../../core/saga/ledger/export-ledger.ts';
import type { createQueryLedger } from '../../../core/saga/ledger/query-ledger.ts';
import { createTotals } from '../../../core/saga/ledger/totals.ts';
import type { LedgerEntry } from '../../../core/saga/model/ledger-entry.ts';
import type { memorySagaStore } from '../../../kit/testing/memory-saga-store.ts';
import type { VirtualClock } from '../../../kit/testing/virtual-clock.ts';
import { memoryExports } from '../ledger-export.ts';
import { compareTotals, rowKey } from './compare.ts';
import type { Random } from './random.ts';

type Memory = ReturnType<typeof memorySagaStore>;
type Query = ReturnType<typeof createQueryLedger>;

/** An export as the stream feeds it: now and then, and of some sagas late. */
export const createBookExport = ({ memory, clock }: { memory: Memory; clock: VirtualClock }) => {
  const { store, objects } = memoryExports();
  const exportSaga = createExportSaga({ store: memory.store, exports: store, clock });
  return { exportSaga, objects };
};
export type BookExport = ReturnType<typeof createBookExport>;

/** Columns of a line that the row has not. */
type Line = LedgerEffect & { committed_hash: string; undone_hash: string | null; last_seq: number };

const linesOf = ({ objects }: BookExport, table: string): [day: string, line: Record<string, unknown>][] =>
  [...objects].flatMap(([key, { body }]) => {
    const [, day = ''] = new RegExp(`^${table}/day=(.{10})/`).exec(key) ?? [];
    const lines = body.split('\n').filter((line) => line !== '');
    return day === '' ? [] : lines.map((line): [string, Record<string, unknown>] => [day, JSON.parse(line)]);
  });

const sortedRows = (rows: readonly LedgerEffect[]): LedgerEffect[] =>
  rows.toSorted((one, other) => rowKey(one).localeCompare(rowKey(other)));

/** Each row is one line, in the partition of its day, and names the entries that it is made of. */
const compareExport = async (
  exported: BookExport,
  rows: readonly LedgerEffect[],
  totals: LedgerTotals,
  { store }: Memory,
): Promise<string[]> => {
  const found: string[] = [];
  const made: LedgerEffect[] = [];
  for (const [day, line] of linesOf(exported, 'effects')) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- compared with the rows below
    const { committed_hash, undone_hash, last_seq, ...row } = line as unknown as Line;
    const entries: (LedgerEntry | undefined)[] = await store.listEntries(row.saga_id);
    const hashes = [row.committed_seq, row.undone_seq].map((seq) =>
      seq === null ? null : entries[seq]?.hash,
    );
    if (day !== row.committed_at.slice(0, 10)) found.push(`the line of ${rowKey(row)} is in ${day}`);
    if (!isDeepStrictEqual(hashes, [committed_hash, undone_hash]))
      found.push(`the line of ${rowKey(row)} names other entries`);
    if (entries[last_seq] === undefined) found.push(`the line of ${rowKey(row)} names no last entry`);
    made.push(row);
  }
  if (!isDeepStrictEqual(sortedRows(made), sortedRows(rows))) found.push('the export has other rows');
  const failures = linesOf(exported, 'reconciliations').map(([, line]) =>
    JSON.stringify([line['saga_id'], line['failed_at'], line['reconciled_at'], line['seconds']]),
  );
  const told = totals.reconciliations.map(({ sagaId, failedAt, reconciledAt, seconds }) =>
    JSON.stringify([sagaId, failedAt, reconciledAt, seconds]),
  );
  if (!isDeepStrictEqual(failures.toSorted(), told.toSorted()))
    found.push(`the export has other reconciliations: ${String(failures)}, and not ${String(told)}`);
  return found;
};

/** Cells as they are read back; an apostrophe that keeps a text from being a formula is none of it. */
const cellsOf = (csv: string): Record<string, string>[] =>
  parse(csv, { columns: true, record_delimiter: '\r\n' });
const textOf = (value: string | number | null): string => (value === null ? '' : String(value));

const compareCsv = (rows: readonly LedgerEffect[], csv: string): string[] => {
  const read = cellsOf(csv);
  const written = rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, textOf(value)])),
  );
  const plain = read.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value.replace(/^'/, '')])),
  );
  return isDeepStrictEqual(plain, written) ? [] : ['the CSV has other cells'];
};

/** All pages; each is no longer than was asked for. */
const pagesOf = async (query: Query, asked: QueryLedgerInput, found: string[]): Promise<LedgerEffect[]> => {
  const rows: LedgerEffect[] = [];
  let cursor: string | undefined;
  do {
    const page = await query({ ...asked, view: 'effects', ...(cursor && { cursor }) });
    if ((page.effects ?? []).length > (asked.limit ?? 200)) found.push('a page is longer than was asked for');
    rows.push(...(page.effects ?? []));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return rows;
};

const totalsOf = async (query: Query, asked: QueryLedgerInput): Promise<LedgerTotals> => {
  const sum = createTotals();
  let cursor: string | undefined;
  do {
    const page = await query({ ...asked, view: 'totals', ...(cursor && { cursor }) });
    if (page.totals !== undefined) sum.addTotals(page.totals);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return sum.end();
};

const DAY_MS = 86_400_000;
const dayAfter = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);

/** A filter of any kind, made of what is there, and now and then of what is not. */
const drawQuery = (random: Random, rows: readonly LedgerEffect[]): QueryLedgerInput => {
  const row = random.pick(rows);
  const other = random.pick(rows);
  const [from, to] = [row, other].map((one) => one.committed_at.slice(0, 10)).toSorted();
  const references = [row.resource_key, row.external_ref, row.undone_ref, 'nobody'].filter(
    (one) => one !== null,
  );
  const kind = random.next();
  const place =
    kind < 0.15
      ? { sagaId: row.saga_id }
      : kind < 0.35
        ? { externalRef: random.pick(references) }
        : kind < 0.5
          ? { day: from ?? '' }
          : {
              from: dayAfter(from ?? '', -random.between(0, 1)),
              to: dayAfter(to ?? '', random.between(0, 1)),
            };
  return {
    ...place,
    ...(random.chance(0.3) ? { tool: other.tool } : {}),
    ...(random.chance(0.2) ? { agent: other.agent } : {}),
    ...(random.chance(0.3) ? { status: other.status } : {}),
    ...(random.chance(0.2) ? { doubt: random.chance(0.7) } : {}),
    ...(random.chance(0.2) ? { reference: random.pick(references) } : {}),
  };
};

/** What the filter means, in its own words. */
const isMeant =
  ({
    sagaId,
    externalRef,
    day,
    from = day,
    to = day,
    tool,
    agent,
    status,
    doubt,
    reference,
  }: QueryLedgerInput) =>
  (row: LedgerEffect): boolean =>
    (sagaId === undefined || row.saga_id === sagaId) &&
    (externalRef === undefined || [row.external_ref, row.undone_ref].includes(externalRef)) &&
    (from === undefined || row.committed_at >= from) &&
    (to === undefined || row.committed_at.slice(0, 10) <= to) &&
    (tool === undefined || row.tool === tool) &&
    (agent === undefined || row.agent === agent) &&
    (status === undefined || row.status === status) &&
    (doubt === undefined || doubt === (row.doubt !== null)) &&
    (reference === undefined || [row.resource_key, row.external_ref, row.undone_ref].includes(reference));

const QUERIES = 4;

interface Views {
  memory: Memory;
  query: Query;
  exported: BookExport;
  random: Random;
  rows: readonly LedgerEffect[];
  totals: LedgerTotals;
}

/** Answers what differs. */
export const compareViews = async ({
  memory,
  query,
  exported,
  random,
  rows,
  totals,
}: Views): Promise<string[]> => {
  const found = await compareExport(exported, rows, totals, memory);
  found.push(...compareCsv(rows, effectsCsv(rows)));
  const sums = cellsOf(totalsCsv(totals)).filter(({ by }) => by === 'all');
  if (
    !isDeepStrictEqual(
      sums.map(({ net }) => net),
      totals.all.map(({ net }) => net),
    )
  )
    found.push('the CSV of totals has other sums');
  for (let asked = 0; rows.length > 0 && asked < QUERIES; asked += 1) {
    const drawn = drawQuery(random, rows);
    const meant = rows.filter(isMeant(drawn));
    const limit = random.pick([
      1,
      2,
      Math.max(1, meant.length - 1),
      Math.max(1, meant.length),
      meant.length + 1,
    ]);
    const told = await pagesOf(query, { ...drawn, limit }, found);
    if (!isDeepStrictEqual(sortedRows(told), sortedRows(meant)))
      found.push(
        `${JSON.stringify({ ...drawn, limit })} answers ${String(told.map(rowKey))}, and means ${String(meant.map(rowKey))}`,
      );
    found.push(
      ...compareTotals(meant, await totalsOf(query, drawn)).map((one) => `${JSON.stringify(drawn)}: ${one}`),
    );
  }
  return found;
};
