/** Reads the whole ledger of a world as finance does, and compares everything. */
import type { LedgerEffect } from '../../../contract/ledger-answers.ts';
import { createQueryLedger } from '../../../core/saga/ledger/query-ledger.ts';
import { createListLocks } from '../../../core/saga/view/list-locks.ts';
import { createListSagas } from '../../../core/saga/view/list-sagas.ts';
import type { memorySagaStore } from '../../../kit/testing/memory-saga-store.ts';
import type { VirtualClock } from '../../../kit/testing/virtual-clock.ts';
import type { Told } from './agents.ts';
import { compareSaga, compareTold, compareTotals, rowKey } from './compare.ts';
import { type BookExport, compareViews } from './compare-views.ts';
import type { Book } from './effects.ts';
import type { Random } from './random.ts';
import type { Tally } from './tally.ts';

const DAYS = { from: '2026-02-28', to: '2026-12-31' };

type Memory = ReturnType<typeof memorySagaStore>;

const notAsked = () => Promise.reject(new Error('this part of the ledger is not asked for'));

/** Rows of all days in small pages, rows of each saga, and the totals. */
const readLedger = async ({ store, heads }: Memory, clock: VirtualClock) => {
  const audit = { head: notAsked, pins: notAsked, entries: notAsked, has: notAsked, day: notAsked };
  const query = createQueryLedger({ store, audit, readAnchors: notAsked, clock });
  const byDay: LedgerEffect[] = [];
  let cursor: string | undefined;
  do {
    const page = await query({ view: 'effects', ...DAYS, limit: 3, ...(cursor && { cursor }) });
    byDay.push(...(page.effects ?? []));
    cursor = page.cursor;
  } while (cursor !== undefined);
  const bySaga: LedgerEffect[] = [];
  for (const sagaId of heads.keys()) {
    bySaga.push(...((await query({ view: 'effects', sagaId, limit: 1000 })).effects ?? []));
  }
  const { totals } = await query({ view: 'totals', ...DAYS });
  if (totals === undefined) throw new Error('the ledger answers no totals');
  return { query, byDay, bySaga, totals };
};

const sorted = (rows: readonly LedgerEffect[]): string =>
  JSON.stringify(rows.toSorted((one, other) => rowKey(one).localeCompare(rowKey(other))));

interface EndedWorld {
  memory: Memory;
  clock: VirtualClock;
  book: Book;
  told: readonly Told[];
  tally: Tally;
  random: Random;
  exported: BookExport;
}

/** Answers what differs. */
export const compareWorld = async (world: EndedWorld): Promise<string[]> => {
  const { memory, clock, book, told, tally, random, exported } = world;
  const found: string[] = [];
  for (const sagaId of memory.heads.keys()) await exported.exportSaga(sagaId);
  const { query, byDay, bySaga, totals } = await readLedger(memory, clock);
  found.push(...(await compareViews({ memory, query, exported, random, rows: byDay, totals })));
  if (sorted(byDay) !== sorted(bySaga)) found.push('rows by day differ from rows by saga');
  for (const { status, doubt } of bySaga) {
    tally.count(`row ${status}`);
    if (doubt !== null) tally.count(`doubt ${status}`);
  }
  const rows = new Map(bySaga.map((row) => [rowKey(row), row]));
  if (rows.size !== bySaga.length) found.push('an effect has two rows');
  const { locks } = await createListLocks({ store: memory.store, clock })({ limit: 1000 });
  if (locks.length > 0) found.push(`locks are held: ${JSON.stringify(locks)}`);
  const listed = await createListSagas({ store: memory.store, clock })({ limit: 1000 });
  if (listed.sagas.length !== memory.heads.size) found.push('the list of sagas misses some');
  const known = new Set<string>();
  for (const [sagaId, head] of memory.heads) {
    const { status, wait, slot } = head.state;
    const entries = await memory.store.listEntries(sagaId);
    tally.count('sagas');
    for (const entry of entries) tally.count(`${entry.direction} ${entry.status}`);
    if (status !== 'COMPLETED' && status !== 'COMPENSATED') {
      found.push(`${sagaId} does not end: ${status}, waits for ${JSON.stringify(wait)}`);
    }
    if (typeof slot === 'number') found.push(`${sagaId} has slot ${slot}`);
    const compared = compareSaga(head, entries, book, rows);
    for (const key of compared.keys) known.add(key);
    found.push(...compared.found);
  }
  for (const { key } of book.effects.values()) if (!known.has(key)) found.push(`${key} is in no saga`);
  // Each effect of the provider has one row. Only rows in doubt may be of what never happened.
  const never = bySaga.filter((row) => row.doubt !== null && !book.effects.has(rowKey(row)));
  if (bySaga.length !== book.effects.size + never.length)
    found.push(
      `${bySaga.length} rows, ${never.length} of nothing: the provider has ${book.effects.size} effects`,
    );
  return [...found, ...compareTold(told, book), ...compareTotals(byDay, totals)];
};
