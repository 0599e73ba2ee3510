/** Queries ledger entries: by saga, status, reference or day. */
import { EFFECT_STATUSES, ENTRY_STATUSES, type LedgerEffect } from '../../../contract/ledger-answers.ts';
import type { LedgerAnswer, LedgerRow } from '../../../contract/ledger-query.ts';
import type { QueryLedgerInput } from '../../../contract/saga-inputs.ts';
import { SAGA_STATUSES, type SagaStatus } from '../../../contract/saga-observation.ts';
import { dayIn, UTC } from '../../../contract/zones.ts';
import { type AnswerPage, createPage } from '../../shared/answer-size.ts';
import { requireGiven } from '../../shared/cursor.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { partOf } from '../../shared/fill-page.ts';
import type { Clock } from '../../shared/surroundings.ts';
import { sagaOfKey } from '../model/keys.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import type { SagaStore } from '../ports.ts';
import type { LedgerAudit } from './audit.ts';
import { type Evidence, evidenceOfDay, evidenceOfSaga } from './collect-evidence.ts';
import { effectsCsv, toCsv, totalsCsv } from './csv.ts';
import { dayCursor, daysFrom, entryFrom } from './day-range.ts';
import { toRow } from './ledger-row.ts';
import type { ReadAnchors } from './read-anchors.ts';
import { isByUndo, readEffects } from './read-effects.ts';
import { createTotals } from './totals.ts';

const DEFAULT_LIMIT = 200;

const refuse = (message: string): never => {
  throw new WalkbackError('InvalidInput', message);
};

type Rows = AnswerPage<LedgerRow>;
type Told = { cursor?: string; tip?: LedgerAnswer['tip']; evidence?: Evidence };

/** Adds entries of one saga from number `from` on, as many as fit. Answers where the rest begins. */
const addSaga = async (
  store: SagaStore,
  rows: Rows,
  sagaId: string,
  from: number,
  isWanted: (entry: LedgerEntry) => boolean = () => true,
): Promise<number | undefined> => {
  let next: number | undefined = from;
  while (next !== undefined) {
    if (rows.isFull()) return next;
    const page: { items: LedgerEntry[]; next?: number } = await store.pageEntries(sagaId, next, rows.room());
    const left = page.items.find((entry) => isWanted(entry) && !rows.add(toRow(entry)));
    if (left !== undefined) return left.seq;
    next = page.next;
  }
  return undefined;
};

const ofSaga = async (store: SagaStore, rows: Rows, sagaId: string, cursor?: string): Promise<Told> => {
  const head = await store.getHead(sagaId);
  if (head === undefined) throw new WalkbackError('SagaNotFound', `There is no saga ${sagaId}.`);
  const next = await addSaga(store, rows, sagaId, cursor === undefined ? 0 : entryFrom(cursor, head.seq));
  return {
    tip: { seq: head.seq, hash: head.tip },
    ...(next === undefined ? {} : { cursor: String(next) }),
  };
};

/** The runtime made the key from the saga's id, so no index is needed. */
const ofKey = async (store: SagaStore, rows: Rows, key: string, cursor?: string): Promise<Told> => {
  const sagaId = sagaOfKey(key) ?? refuse(`idempotencyKey: ${key} is no key of a call; one is SAGA:STEP.`);
  const head = await store.getHead(sagaId);
  if (head === undefined) throw new WalkbackError('SagaNotFound', `There is no saga ${sagaId}.`);
  const from = cursor === undefined ? 0 : entryFrom(cursor, head.seq);
  const next = await addSaga(
    store,
    rows,
    sagaId,
    from,
    (entry) => 'idempotencyKey' in entry && entry.idempotencyKey === key,
  );
  return next === undefined ? {} : { cursor: String(next) };
};

interface SagaPlace {
  /** Cursor at which the index continues. */
  position: string | undefined;
  /** The first saga from there may be answered in part: its id. */
  begunSaga?: string;
  begun: number;
}

/**
 * The cursor is `<cursor of the index>|<saga>|<entry>`, or only its first part when no saga was answered in
 * part.
 */
const pagePosition = async (store: SagaStore, cursor: string | undefined): Promise<SagaPlace> => {
  if (cursor === undefined) return { position: undefined, begun: 0 };
  const [index = '', begunSaga, begunAt, ...rest] = cursor.split('|');
  requireGiven(rest.length === 0);
  const position = index === '' ? undefined : index;
  if (begunSaga === undefined) {
    requireGiven(position !== undefined);
    return { position, begun: 0 };
  }
  const head = await store.getHead(begunSaga);
  return { position, begunSaga, begun: entryFrom(begunAt ?? '', head?.seq ?? 0) };
};

/**
 * Goes through one saga after another. When the page begins at another saga (the first one may have moved
 * meanwhile), that saga is answered from its beginning.
 */
const ofStatus = async (
  store: SagaStore,
  rows: Rows,
  status: SagaStatus,
  clock: Clock,
  cursor?: string,
): Promise<Told> => {
  const isOver = partOf(clock);
  let { position, begunSaga, begun } = await pagePosition(store, cursor);
  do {
    const page = await store.listHeadsByStatus(status, 1, position);
    for (const { sagaId } of page.items) {
      const from = sagaId === begunSaga ? begun : 0;
      const next = await addSaga(store, rows, sagaId, from);
      if (next !== undefined) return { cursor: `${position ?? ''}|${sagaId}|${next}` };
    }
    position = page.cursor;
  } while (position !== undefined && !rows.isFull() && !isOver());
  return position === undefined ? {} : { cursor: position };
};

/** A new status of an entry must be added to those that the contract names; otherwise this does not compile. */
const entryStatus = (entry: LedgerEntry): (typeof ENTRY_STATUSES)[number] | 'submitted' => entry.status;

/** Goes through the days, oldest first. */
const ofDays = async (store: SagaStore, rows: Rows, query: QueryLedgerInput, clock: Clock): Promise<Told> => {
  const { status } = query;
  const today = dayIn(query.zone ?? UTC, clock.now().toISOString());
  const isOver = partOf(clock);
  const { days, within, isIn } = daysFrom(query, today, query.cursor);
  let cursor = within;
  for (const day of days) {
    do {
      if (rows.isFull() || isOver()) return { cursor: dayCursor(day, cursor) };
      const page = await store.listEntriesByDay(day, rows.room(), cursor);
      rows.addAll(
        page.items
          .filter((entry) => isIn(entry.at) && (status === undefined || entryStatus(entry) === status))
          .map(toRow),
      );
      cursor = page.cursor;
    } while (cursor !== undefined);
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

const select = async (store: SagaStore, rows: Rows, query: QueryLedgerInput, clock: Clock): Promise<Told> => {
  const { status, cursor } = query;
  if (query.sagaId !== undefined) return ofSaga(store, rows, query.sagaId, cursor);
  if (query.idempotencyKey !== undefined) return ofKey(store, rows, query.idempotencyKey, cursor);
  if (query.externalRef !== undefined) {
    const { items, ...told } = await store.listEntriesByExternalRef(query.externalRef, rows.room(), cursor);
    rows.addAll(items.map(toRow));
    return told;
  }
  const sagaStatus = SAGA_STATUSES.find((known) => known === status);
  if (sagaStatus !== undefined) return ofStatus(store, rows, sagaStatus, clock, cursor);
  return ofDays(store, rows, query, clock);
};

/** Checks that the query names one place to begin, and only filters that go with it. */
const checkQuery = (query: QueryLedgerInput): void => {
  const { sagaId, externalRef, anchorsOf, status, day, from, to, view = 'entries' } = query;
  const isDays = (day ?? from ?? to) !== undefined || isByUndo(query);
  const isEntries = view === 'entries';
  const byDays = isDays || (isEntries && status !== undefined);
  const places =
    [sagaId, externalRef, query.idempotencyKey, anchorsOf].filter((one) => one !== undefined).length +
    Number(byDays);
  if (places > 1) {
    refuse(
      'Give one of sagaId, externalRef, idempotencyKey, anchorsOf, status or day, or from and to (status and days go together), or none for the last seven days.',
    );
  }
  const { tool, agent, reference, doubt } = query;
  if (isEntries && (tool ?? agent ?? reference ?? doubt) !== undefined) {
    refuse('view: tool, agent, reference and doubt go with the views effects and totals.');
  }
  if (isEntries && (query.asOf !== undefined || isByUndo(query))) {
    refuse('view: asOf, undoneFrom and undoneTo go with the views effects and totals; entries have to.');
  }
  if (query.zone !== undefined && (anchorsOf !== undefined || query.evidence === true)) {
    refuse('zone: anchors and evidence are of days in UTC.');
  }
  if (isEntries && isDays && SAGA_STATUSES.some((known) => known === status)) {
    refuse('status: sagas in a status are asked for without days; of days, an entry has one, as committed.');
  }
  if (isEntries) {
    const known: readonly string[] = [...SAGA_STATUSES, ...ENTRY_STATUSES];
    if (status !== undefined && !known.includes(status)) {
      refuse(`status: no entry is ${status}; effects have it, with view "effects" or "totals".`);
    }
    return;
  }
  if (query.idempotencyKey !== undefined) refuse('view: idempotencyKey goes with entries.');
  if (anchorsOf !== undefined || query.evidence === true)
    refuse('view: anchorsOf and evidence go with entries.');
  if (status !== undefined && !EFFECT_STATUSES.some((known) => known === status)) {
    refuse(`status: an effect is ${EFFECT_STATUSES.join(', ')}.`);
  }
};

const effectsAnswer = async (
  store: SagaStore,
  query: QueryLedgerInput,
  clock: Clock,
): Promise<LedgerAnswer> => {
  const rows = createPage<LedgerEffect>(query.limit ?? DEFAULT_LIMIT);
  const told = await readEffects(
    store,
    { room: rows.room, isFull: rows.isFull, add: ({ row }) => rows.addAll([row]) },
    query,
    clock,
  );
  return {
    ...(query.format === 'csv' ? { csv: effectsCsv(rows.items, query) } : { effects: rows.items }),
    ...told,
  };
};

/** The day on which a row counts, in the zone that was asked for. */
const dayOfRow =
  (query: QueryLedgerInput) =>
  (row: LedgerEffect): string =>
    dayIn(query.zone ?? UTC, (isByUndo(query) ? row.undone_at : null) ?? row.committed_at);

const totalsAnswer = async (
  store: SagaStore,
  query: QueryLedgerInput,
  clock: Clock,
): Promise<LedgerAnswer> => {
  const totals = createTotals(dayOfRow(query));
  const told = await readEffects(
    store,
    {
      room: () => Number.POSITIVE_INFINITY,
      isFull: () => false,
      add: ({ row, ofSaga: reconciliations }) => totals.add(row, reconciliations),
      addFailures: totals.addReconciliations,
    },
    query,
    clock,
  );
  return {
    ...(query.format === 'csv' ? { csv: totalsCsv(totals.end(), query) } : { totals: totals.end() }),
    ...told,
  };
};

interface QueryDependencies {
  store: SagaStore;
  audit: LedgerAudit;
  readAnchors: ReadAnchors;
  clock: Clock;
}

/**
 * Answers entries, oldest first, as rows or CSV, in pages of at most `limit` and about 1 MB. Takes one of
 * `sagaId`, `status`, `externalRef`, `day`, else the last seven days; `status` and days may be combined. With
 * `anchorsOf`, answers the digests instead.
 */
export const createQueryLedger =
  ({ store, audit, readAnchors, clock }: QueryDependencies) =>
  async (query: QueryLedgerInput): Promise<LedgerAnswer> => {
    checkQuery(query);
    if (query.anchorsOf !== undefined) return readAnchors(query.anchorsOf, query.cursor);
    if (query.view === 'effects') return effectsAnswer(store, query, clock);
    if (query.view === 'totals') return totalsAnswer(store, query, clock);
    const rows = createPage<LedgerRow>(query.limit ?? DEFAULT_LIMIT);
    const told = query.evidence
      ? await selectEvidence(audit, rows, query)
      : await select(store, rows, query, clock);
    return {
      ...(query.format === 'csv' ? { csv: toCsv(rows.items, query) } : { entries: rows.items }),
      ...told,
    };
  };
