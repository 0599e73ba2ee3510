/**
 * Finds effect rows: by saga, by reference, or over days. The index finds the entry that committed an effect
 * or left it in doubt. Its row is then made from the whole ledger of its saga, so that an undo of a later day
 * is in it. One call reads until its page is full or the time is over; the cursor says where the rest begins.
 */
import { type LedgerEffect, type Reconciliation, undoneAt } from '../../../contract/ledger-answers.ts';
import type { QueryLedgerInput } from '../../../contract/saga-inputs.ts';
import { dayIn, dayOfBound, isUntil, UTC } from '../../../contract/zones.ts';
import { mapAtOnce } from '../../shared/at-once.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { partOf } from '../../shared/fill-page.ts';
import type { Clock } from '../../shared/surroundings.ts';
import { isChildOf } from '../model/head.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import type { SagaStore } from '../ports.ts';
import { dayCursor, daysFrom, entryFrom, isAsked } from './day-range.ts';
import { createSagaEffects, type SagaEffects } from './effect-rows.ts';

/** About the number of entries whose sagas are kept at once; a saga that is needed again is read again. */
const MAX_KEPT = 20_000;
/** Entries of a saga's ledger that one read returns. */
const PAGE = 1_000;
/** Entries of an index that one read returns. Each may be of another saga, which is then read. */
const INDEX_PAGE = 100;
const AT_ONCE = 8;

interface FoundEffect {
  row: LedgerEffect;
  ofSaga: readonly Reconciliation[];
}

/** Receives what is found. */
export interface Sink {
  /** How many more fit. */
  room(): number;
  isFull(): boolean;
  add(found: FoundEffect): void;
  /** Receives failures of the sagas that were asked for, whether or not a saga has effects of its own. */
  addFailures?(reconciliations: readonly Reconciliation[]): void;
}

type Store = Pick<SagaStore, 'getHead' | 'pageEntries' | 'listEntriesByDay' | 'listEntriesByExternalRef'>;

const isWanted =
  ({ tool, agent, reference, status, doubt }: QueryLedgerInput) =>
  ({ row }: FoundEffect): boolean =>
    (tool === undefined || row.tool === tool) &&
    (agent === undefined || row.agent === agent) &&
    (status === undefined || row.status === status) &&
    (doubt === undefined || (row.doubt !== null) === doubt) &&
    (reference === undefined ||
      [row.resource_key, row.external_ref, row.undone_ref].some((one) => one === reference));

/** Whether a saga itself is wanted: filters of effects choose no sagas, except the filter by who started it. */
const isWantedSaga = ({ tool, agent, reference, status, doubt }: QueryLedgerInput, saga: ReadSaga): boolean =>
  (tool ?? reference ?? status ?? doubt) === undefined && (agent === undefined || saga.agent === agent);

/**
 * The entries at which a row may stand. An effect that was in doubt may have been committed later, and then
 * has only one row.
 */
const isForward = ({ direction, status }: LedgerEntry): boolean =>
  (status === 'committed' && (direction === 'forward' || direction === 'probe')) ||
  (status === 'unknown' && direction === 'forward');

/** The entries by which a row may be undone. What was skipped or accepted stands. */
const isUndoing = ({ direction, status }: LedgerEntry): boolean =>
  (direction === 'undo' && status === 'committed') || (direction === 'operator' && status === 'resolved');

const isFailure = ({ direction, status }: LedgerEntry): boolean =>
  direction === 'saga' && status === 'compensation_failed';

interface ReadSaga {
  agent: string;
  rows: LedgerEffect[];
  reconciliations: Reconciliation[];
  children: SagaEffects['children'];
}

/** Reads each saga once, as long as there is room to keep it. */
const createReader = (store: Store, asOf?: (at: string) => boolean) => {
  const sagas = new Map<string, ReadSaga>();
  let kept = 0;
  const makeRoom = (): void => {
    if (kept < MAX_KEPT) return;
    sagas.clear();
    kept = 0;
  };

  const readSaga = async (sagaId: string): Promise<void> => {
    const effects = createSagaEffects();
    let from: number | undefined = 0;
    while (from !== undefined) {
      const page: { items: LedgerEntry[]; next?: number } = await store.pageEntries(sagaId, from, PAGE);
      // Up to the first entry that is later: whatever is written after it changes nothing in what stood then.
      const end = asOf === undefined ? -1 : page.items.findIndex(({ at }) => !asOf(at));
      for (const entry of end < 0 ? page.items : page.items.slice(0, end)) effects.add(entry);
      from = end < 0 ? page.next : undefined;
      kept += page.items.length;
    }
    const { agent, committed, failures, children } = effects.end({ asOf: asOf !== undefined });
    sagas.set(sagaId, {
      agent,
      rows: committed.map(({ row }) => row),
      reconciliations: failures.map(({ reconciliation }) => reconciliation),
      children,
    });
  };

  return {
    saga: async (sagaId: string): Promise<ReadSaga> => {
      if (!sagas.has(sagaId)) await readSaga(sagaId);
      return sagas.get(sagaId) ?? { agent: '', rows: [], reconciliations: [], children: [] };
    },
    /** The rows of these entries, in their order. */
    rowsOf: async (
      entries: readonly LedgerEntry[],
      isOf: (row: LedgerEffect, entry: LedgerEntry) => boolean,
    ): Promise<FoundEffect[]> => {
      makeRoom();
      const ids = [...new Set(entries.map(({ sagaId }) => sagaId))];
      await mapAtOnce(
        ids.filter((id) => !sagas.has(id)),
        AT_ONCE,
        readSaga,
      );
      return entries.flatMap((entry) => {
        const { rows = [], reconciliations: ofSaga = [] } = sagas.get(entry.sagaId) ?? {};
        const row = rows.find((one) => isOf(one, entry));
        return row === undefined ? [] : [{ row, ofSaga }];
      });
    },
  };
};

type Reader = ReturnType<typeof createReader>;
type Told = { cursor?: string; below?: string[] };

/**
 * The sagas that this saga runs as steps and that have begun. When another saga has taken an id, it does not
 * count.
 */
const belowIn = async (
  store: Pick<Store, 'getHead'>,
  sagaId: string,
  children: SagaEffects['children'],
): Promise<Told> => {
  const found = await mapAtOnce(children, AT_ONCE, async (one) => {
    const head = await store.getHead(one.sagaId);
    return head !== undefined && isChildOf(head, sagaId, one.startSeq) ? [one.sagaId] : [];
  });
  const below = found.flat();
  return below.length === 0 ? {} : { below };
};

const ofSaga = async (store: Store, reader: Reader, sink: Sink, query: QueryLedgerInput): Promise<Told> => {
  const { sagaId = '', cursor } = query;
  const head = await store.getHead(sagaId);
  if (head === undefined) {
    throw new WalkbackError('SagaNotFound', `There is no saga ${sagaId}.`);
  }
  const saga = await reader.saga(sagaId);
  const { rows, reconciliations } = saga;
  if (isWantedSaga(query, saga)) sink.addFailures?.(reconciliations);
  const after = cursor === undefined ? -1 : entryFrom(cursor, head.seq);
  for (const row of rows.filter(({ committed_seq: seq }) => seq > after)) {
    if (sink.isFull()) return { cursor: String(row.committed_seq - 1) };
    const found = { row, ofSaga: reconciliations };
    if (isWanted(query)(found)) sink.add(found);
  }
  return belowIn(store, sagaId, saga.children);
};

/**
 * Whether an entry has the reference. An effect that has it both for its call and for its undo is found by
 * its call.
 */
const hasReference =
  (reference: string) =>
  (row: LedgerEffect, entry: LedgerEntry): boolean =>
    isForward(entry)
      ? row.committed_seq === entry.seq
      : row.undone_seq === entry.seq && row.external_ref !== reference;

const ofReference = async (
  store: Store,
  reader: Reader,
  sink: Sink,
  query: QueryLedgerInput,
  isOver: () => boolean,
): Promise<Told> => {
  const { externalRef = '' } = query;
  let { cursor } = query;
  do {
    const page = await store.listEntriesByExternalRef(externalRef, Math.min(INDEX_PAGE, sink.room()), cursor);
    const found = await reader.rowsOf(page.items, hasReference(externalRef));
    for (const one of found.filter(isWanted(query))) sink.add(one);
    cursor = page.cursor;
  } while (cursor !== undefined && !sink.isFull() && !isOver());
  return cursor === undefined ? {} : { cursor };
};

/** Whether effects are found by the day of their undo. */
export const isByUndo = ({ undoneFrom, undoneTo }: QueryLedgerInput): boolean =>
  (undoneFrom ?? undoneTo) !== undefined;

const ofDays = async (
  store: Store,
  reader: Reader,
  sink: Sink,
  query: QueryLedgerInput,
  { today, isOver }: { today: string; isOver: () => boolean },
): Promise<Told> => {
  const byUndo = isByUndo(query);
  const { zone } = query;
  const asked = byUndo ? { from: query.undoneFrom, to: query.undoneTo, zone } : query;
  const { days, within, isIn } = daysFrom(asked, today, query.cursor);
  const isCommittedIn = byUndo ? isAsked(query) : () => true;
  const isPlace = byUndo ? isUndoing : isForward;
  let cursor = within;
  for (const day of days) {
    do {
      if (sink.isFull() || isOver()) return { cursor: dayCursor(day, cursor) };
      const page = await store.listEntriesByDay(day, Math.min(INDEX_PAGE, sink.room()), cursor);
      const found = await reader.rowsOf(
        page.items.filter((entry) => isPlace(entry) && isIn(entry.at)),
        (row, { seq }) =>
          byUndo
            ? row.undone_seq === seq && undoneAt(row) !== null && isCommittedIn(row.committed_at)
            : row.committed_seq === seq,
      );
      for (const one of found.filter(isWanted(query))) sink.add(one);
      const failed =
        byUndo || sink.addFailures === undefined
          ? []
          : page.items.filter((entry) => isFailure(entry) && isIn(entry.at));
      for (const { sagaId, at } of failed) {
        const saga = await reader.saga(sagaId);
        if (!isWantedSaga(query, saga)) continue;
        sink.addFailures?.(saga.reconciliations.filter(({ failedAt }) => failedAt === at));
      }
      cursor = page.cursor;
    } while (cursor !== undefined);
  }
  return {};
};

/** Adds what fits, until the time is over. `cursor`: where the rest begins. */
export const readEffects = (
  store: Store,
  sink: Sink,
  query: QueryLedgerInput,
  clock: Pick<Clock, 'now'>,
): Promise<Told> => {
  const { asOf, zone = UTC } = query;
  const isThen = asOf === undefined ? undefined : isUntil(asOf, zone);
  const reader = createReader(store, isThen);
  const isOver = partOf(clock);
  const today = asOf === undefined ? dayIn(zone, clock.now().toISOString()) : dayOfBound(asOf, zone);
  if (query.sagaId !== undefined) return ofSaga(store, reader, sink, query);
  if (query.externalRef !== undefined) return ofReference(store, reader, sink, query, isOver);
  return ofDays(store, reader, sink, query, { today, isOver });
};
