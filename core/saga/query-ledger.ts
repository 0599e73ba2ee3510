import { WalkbackError } from '../errors.ts';
import type { Clock } from '../ports.ts';
import { toCsv } from './csv.ts';
import { type LedgerRow, toRow } from './ledger-row.ts';
import type { LedgerEntry, SagaStatus } from './model.ts';
import type { Page, SagaStore } from './ports.ts';

export interface LedgerQuery {
  sagaId?: string;
  /** A saga's status in capitals, or an entry's status: then of `day`, or of the last seven days. */
  status?: string;
  externalRef?: string;
  day?: string;
  format?: 'json' | 'csv';
  limit?: number;
  cursor?: string;
}

export interface LedgerAnswer {
  entries?: LedgerRow[];
  csv?: string;
  cursor?: string;
  /** For one saga: where its chain ends, to verify that nothing was cut off. */
  tip?: { seq: number; hash: string };
}

const SAGA_STATUSES: readonly SagaStatus[] = [
  'RUNNING',
  'AWAITING',
  'COMPENSATING',
  'PAUSED',
  'COMPLETED',
  'COMPENSATED',
  'COMPENSATION_FAILED',
];
const DAYS_BACK = 7;
const DEFAULT_LIMIT = 200;

const ofSaga = async (store: SagaStore, sagaId: string, limit: number, cursor?: string) => {
  const head = await store.getHead(sagaId);
  if (head === undefined) throw new WalkbackError('SagaNotFound', `There is no saga ${sagaId}.`);
  const from = cursor === undefined ? 0 : Number(cursor);
  const all = await store.listEntries(sagaId);
  const items = all.slice(from, from + limit);
  const next = from + items.length;
  return {
    items,
    tip: { seq: head.seq, hash: head.tip },
    ...(next < all.length ? { cursor: String(next) } : {}),
  };
};

const ofStatus = async (store: SagaStore, status: SagaStatus, limit: number, cursor?: string) => {
  const page = await store.listHeadsByStatus(status, Math.max(1, Math.floor(limit / 10)), cursor);
  const items: LedgerEntry[] = [];
  for (const head of page.items) items.push(...(await store.listEntries(head.sagaId)));
  return { items, ...(page.cursor === undefined ? {} : { cursor: page.cursor }) };
};

const dayBefore = (day: string): string => new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10);

/** Days oldest first; the cursor is `<day>|<cursor inside the day>`. */
const ofDays = async (
  store: SagaStore,
  days: readonly string[],
  limit: number,
  status: string | undefined,
  cursor?: string,
): Promise<Page<LedgerEntry>> => {
  const [startDay = days[0], inner] = cursor?.split('|') ?? [];
  const items: LedgerEntry[] = [];
  let within = inner === '' ? undefined : inner;
  for (const day of days.slice(Math.max(0, days.indexOf(startDay ?? '')))) {
    do {
      const page = await store.listEntriesByDay(day, limit, within);
      items.push(...page.items.filter((entry) => status === undefined || entry.status === status));
      within = page.cursor;
      if (items.length >= limit && within !== undefined) return { items, cursor: `${day}|${within}` };
    } while (within !== undefined);
  }
  return { items };
};

const select = (
  store: SagaStore,
  query: LedgerQuery,
  today: string,
  limit: number,
): Promise<Page<LedgerEntry> & { tip?: LedgerAnswer['tip'] }> => {
  const { status, cursor } = query;
  if (query.sagaId !== undefined) return ofSaga(store, query.sagaId, limit, cursor);
  if (query.externalRef !== undefined)
    return store.listEntriesByExternalRef(query.externalRef, limit, cursor);
  const sagaStatus = SAGA_STATUSES.find((known) => known === status);
  if (sagaStatus !== undefined) return ofStatus(store, sagaStatus, limit, cursor);
  if (query.day !== undefined) return ofDays(store, [query.day], limit, status, cursor);
  const days = [today];
  while (days.length < DAYS_BACK) days.unshift(dayBefore(days[0] ?? today));
  return ofDays(store, days, limit, status, cursor);
};

/** Entries, oldest first, as rows or CSV. One of `sagaId`, `status`, `externalRef`, `day`; `status` and `day` go together. */
export const makeQueryLedger =
  ({ store, clock }: { store: SagaStore; clock: Clock }) =>
  async (query: LedgerQuery): Promise<LedgerAnswer> => {
    const chosen = [query.sagaId, query.externalRef, query.status ?? query.day].filter(
      (one) => one !== undefined,
    );
    if (chosen.length !== 1) {
      throw new WalkbackError(
        'InvalidInput',
        'Give one of sagaId, externalRef, status or day (status and day go together).',
      );
    }
    const today = clock.now().toISOString().slice(0, 10);
    const page = await select(store, query, today, query.limit ?? DEFAULT_LIMIT);
    const rows = page.items.map(toRow);
    return {
      ...(query.format === 'csv' ? { csv: toCsv(rows) } : { entries: rows }),
      ...(page.cursor === undefined ? {} : { cursor: page.cursor }),
      ...(page.tip === undefined ? {} : { tip: page.tip }),
    };
  };
