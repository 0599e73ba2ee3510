import type { LedgerAnswer } from '../../../contract/saga-answers.ts';
import { type LedgerRow, SAGA_STATUSES, type SagaStatus } from '../../../contract/saga-answers.ts';
import type { QueryLedgerInput } from '../../../contract/saga-inputs.ts';
import { type AnswerPage, createPage } from '../../shared/answer-size.ts';
import { WalkbackError } from '../../shared/errors.ts';
import type { Clock } from '../../shared/surroundings.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import type { SagaStore } from '../ports.ts';
import type { LedgerAudit } from './audit.ts';
import { type Evidence, evidenceOfDay, evidenceOfSaga } from './collect-evidence.ts';
import { toCsv } from './csv.ts';
import { toRow } from './ledger-row.ts';
import type { ReadAnchors } from './read-anchors.ts';

const DAYS_BACK = 7;
const DEFAULT_LIMIT = 200;

type Rows = AnswerPage<LedgerRow>;
type Told = { cursor?: string; tip?: LedgerAnswer['tip']; evidence?: Evidence };

/** Adds as many entries of one saga as fit, from `from` on. Answers where the rest begins. */
const addSaga = async (
  store: SagaStore,
  rows: Rows,
  sagaId: string,
  from: number,
): Promise<number | undefined> => {
  let next: number | undefined = from;
  while (next !== undefined) {
    if (rows.isFull()) return next;
    const page: { items: LedgerEntry[]; next?: number } = await store.pageEntries(sagaId, next, rows.room());
    const left = page.items.find((entry) => !rows.add(toRow(entry)));
    if (left !== undefined) return left.seq;
    next = page.next;
  }
  return undefined;
};

const ofSaga = async (store: SagaStore, rows: Rows, sagaId: string, cursor?: string): Promise<Told> => {
  const head = await store.getHead(sagaId);
  if (head === undefined) throw new WalkbackError('SagaNotFound', `There is no saga ${sagaId}.`);
  const next = await addSaga(store, rows, sagaId, Number(cursor ?? 0));
  return {
    tip: { seq: head.seq, hash: head.tip },
    ...(next === undefined ? {} : { cursor: String(next) }),
  };
};

/**
 * Goes through one saga after another. The cursor is `<cursor of the index>|<saga>|<entry>`: where the
 * index goes on, and how far the first saga from there was answered. If another saga is there (the first
 * may have moved meanwhile), it is answered from its beginning.
 */
const ofStatus = async (store: SagaStore, rows: Rows, status: SagaStatus, cursor?: string): Promise<Told> => {
  const [index = '', begunSaga = '', begunAt = '0'] = cursor?.split('|') ?? [];
  let position = index === '' ? undefined : index;
  do {
    const page = await store.listHeadsByStatus(status, 1, position);
    for (const { sagaId } of page.items) {
      const from = sagaId === begunSaga ? Number(begunAt) : 0;
      const next = await addSaga(store, rows, sagaId, from);
      if (next !== undefined) return { cursor: `${position ?? ''}|${sagaId}|${next}` };
    }
    position = page.cursor;
  } while (position !== undefined && !rows.isFull());
  return position === undefined ? {} : { cursor: position };
};

const dayBefore = (day: string): string => new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10);

/** Days oldest first; the cursor is `<day>|<cursor inside the day>`. */
const ofDays = async (
  store: SagaStore,
  rows: Rows,
  days: readonly string[],
  status: string | undefined,
  cursor?: string,
): Promise<Told> => {
  const [startDay = days[0], inner] = cursor?.split('|') ?? [];
  let within = inner === '' ? undefined : inner;
  for (const day of days.slice(Math.max(0, days.indexOf(startDay ?? '')))) {
    do {
      if (rows.isFull()) return { cursor: `${day}|${within ?? ''}` };
      const page = await store.listEntriesByDay(day, rows.room(), within);
      rows.addAll(page.items.filter((entry) => status === undefined || entry.status === status).map(toRow));
      within = page.cursor;
    } while (within !== undefined);
  }
  return {};
};

const selectEvidence = (
  audit: LedgerAudit,
  rows: Rows,
  { sagaId, day, cursor }: QueryLedgerInput,
): Promise<Told> => {
  if (sagaId !== undefined) return evidenceOfSaga(audit, rows, sagaId, cursor);
  if (day !== undefined) return evidenceOfDay(audit, rows, day, cursor);
  throw new WalkbackError('InvalidInput', 'evidence: goes with sagaId or day.');
};

const select = async (
  store: SagaStore,
  rows: Rows,
  query: QueryLedgerInput,
  today: string,
): Promise<Told> => {
  const { status, cursor } = query;
  if (query.sagaId !== undefined) return ofSaga(store, rows, query.sagaId, cursor);
  if (query.externalRef !== undefined) {
    const { items, ...told } = await store.listEntriesByExternalRef(query.externalRef, rows.room(), cursor);
    rows.addAll(items.map(toRow));
    return told;
  }
  const sagaStatus = SAGA_STATUSES.find((known) => known === status);
  if (sagaStatus !== undefined) return ofStatus(store, rows, sagaStatus, cursor);
  if (query.day !== undefined) return ofDays(store, rows, [query.day], status, cursor);
  const days = [today];
  while (days.length < DAYS_BACK) days.unshift(dayBefore(days[0] ?? today));
  return ofDays(store, rows, days, status, cursor);
};

interface QueryDependencies {
  store: SagaStore;
  audit: LedgerAudit;
  readAnchors: ReadAnchors;
  clock: Clock;
}

/**
 * Answers entries, oldest first, as rows or CSV, in pages of at most `limit` and about 1 MB. Takes one of
 * `sagaId`, `status`, `externalRef`, `day`; `status` and `day` may be combined. With `anchorsOf`, answers
 * the digests instead.
 */
export const createQueryLedger =
  ({ store, audit, readAnchors, clock }: QueryDependencies) =>
  async (query: QueryLedgerInput): Promise<LedgerAnswer> => {
    const chosen = [query.sagaId, query.externalRef, query.anchorsOf, query.status ?? query.day].filter(
      (one) => one !== undefined,
    );
    if (chosen.length !== 1) {
      throw new WalkbackError(
        'InvalidInput',
        'Give one of sagaId, externalRef, anchorsOf, status or day (status and day go together).',
      );
    }
    if (query.anchorsOf !== undefined) return readAnchors(query.anchorsOf, query.cursor);
    const today = clock.now().toISOString().slice(0, 10);
    const rows = createPage<LedgerRow>(query.limit ?? DEFAULT_LIMIT);
    const told = query.evidence
      ? await selectEvidence(audit, rows, query)
      : await select(store, rows, query, today);
    return { ...(query.format === 'csv' ? { csv: toCsv(rows.items) } : { entries: rows.items }), ...told };
  };
