/**
 * Exports the ledger for queries: when the stream says that a saga moved, and on request for earlier days. A
 * saga's objects are made anew from its whole ledger and replace older ones. So it does not matter how often
 * or in which order changes are delivered, or who else exports the same saga at that moment.
 */
import type { ExportLedgerInput, ExportReport } from '../../../contract/ledger-export.ts';
import { mapAtOnce } from '../../shared/at-once.ts';
import type { Invocation } from '../../shared/deadline.ts';
import { WalkbackError } from '../../shared/errors.ts';
import { PART_MS } from '../../shared/fill-page.ts';
import { pauseAfterRace, RACE } from '../../shared/retry.ts';
import type { Clock, Log } from '../../shared/surroundings.ts';
import type { LedgerEntry } from '../model/ledger-entry.ts';
import type { SagaStore } from '../ports.ts';
import { dayCursor, daysFrom } from './day-range.ts';
import { createSagaEffects } from './effect-rows.ts';
import { type ExportObject, exportObjects } from './export-lines.ts';

/** What is stored under a key now. */
interface StoredExport {
  seq: number;
  /** The form of its lines (`EXPORT_FORM`). */
  form: number;
  /** Names exactly this version of the object. */
  version: string;
}

/** Where exported objects are kept. */
export interface ExportStore {
  find(key: string): Promise<StoredExport | undefined>;
  /** Replaces exactly `before`, or nothing when it is undefined. False: something else is there by now. */
  put(object: ExportObject, before: StoredExport | undefined): Promise<boolean>;
}

/** Entries of a saga's ledger that one read returns. */
const PAGE = 1_000;
const INDEX_PAGE = 100;
const SAGAS_AT_ONCE = 8;
/** A call that people make ends this early, to answer where the next call continues. */
const MARGIN_MS = 15_000;
const MAX_SAGAS = 1_000;

type Reads = Pick<SagaStore, 'pageEntries'>;

interface ExportDependencies {
  store: Reads;
  exports: ExportStore;
  clock: Clock;
}

export interface Exported {
  written: number;
  kept: number;
}

/**
 * Reads up to the first gap: a read beside a transaction may already see its later entries and not yet its
 * earlier ones.
 */
const readEffects = async (store: Reads, sagaId: string) => {
  const effects = createSagaEffects();
  let from: number | undefined = 0;
  let next = 0;
  while (from !== undefined) {
    const page: { items: LedgerEntry[]; next?: number } = await store.pageEntries(sagaId, from, PAGE);
    for (const entry of page.items) {
      if (entry.seq !== next) return effects.end();
      effects.add(entry);
      next += 1;
    }
    from = page.next;
  }
  return effects.end();
};

/** Whether the stored object was made from more of the ledger, or from as much of it in the same or a higher form. */
const isAsNew = (stored: StoredExport, { seq, form }: ExportObject): boolean =>
  stored.seq > seq || (stored.seq === seq && stored.form >= form);

export const createExportSaga = ({ store, exports, clock }: ExportDependencies) => {
  /** True when it was written, false when the stored object is at least as new. */
  const bring = async (object: ExportObject): Promise<boolean> => {
    for (let attempt = 0; attempt < RACE.attempts; attempt++) {
      const before = await exports.find(object.key);
      if (before !== undefined && isAsNew(before, object)) return false;
      if (await exports.put(object, before)) return true;
      await pauseAfterRace(clock, attempt);
    }
    throw new WalkbackError('Throttled', `Others write ${object.key} all the time. Call again.`, {
      retryable: true,
    });
  };

  return async (sagaId: string): Promise<Exported> => {
    const objects = exportObjects(await readEffects(store, sagaId));
    let written = 0;
    for (const object of objects) if (await bring(object)) written += 1;
    return { written, kept: objects.length - written };
  };
};
export type ExportSaga = ReturnType<typeof createExportSaga>;

/** A change of the Sagas table. Without `sagaId` it is not a change of a head, and is skipped. */
export interface MovedSaga {
  id: string;
  sagaId?: string;
}

/**
 * Answers the index of the first change whose saga could not be exported. The changes after it were tried all
 * the same.
 */
export const createExportChanges =
  ({ exportSaga, log }: { exportSaga: ExportSaga; log: Log }) =>
  async (changes: readonly MovedSaga[]): Promise<number | undefined> => {
    const first = new Map<string, number>();
    for (const [index, { sagaId }] of changes.entries()) {
      if (sagaId !== undefined && !first.has(sagaId)) first.set(sagaId, index);
    }
    const failures = await mapAtOnce([...first], SAGAS_AT_ONCE, async ([sagaId, index]) => {
      try {
        await exportSaga(sagaId);
        return [];
      } catch (error) {
        log.warn('saga not exported', { sagaId, reason: String(error) });
        return [index];
      }
    });
    const failed = failures.flat();
    return failed.length === 0 ? undefined : Math.min(...failed);
  };

interface BackfillDependencies {
  store: Pick<SagaStore, 'listEntriesByDay'>;
  exportSaga: ExportSaga;
  clock: Clock;
}

/**
 * Exports every saga that moved in the range. When a call has to end, the cursor says where the next one
 * continues.
 */
export const createBackfill =
  ({ store, exportSaga, clock }: BackfillDependencies) =>
  async ({ from, to, cursor }: ExportLedgerInput, invocation: Invocation): Promise<ExportReport> => {
    const today = clock.now().toISOString().slice(0, 10);
    const { days, within } = daysFrom({ from, to }, today, cursor);
    const done = new Set<string>();
    const report = { written: 0, kept: 0 };
    const untilMs = Math.min(invocation.deadlineMs - MARGIN_MS, clock.now().getTime() + PART_MS);
    const isOver = (): boolean => done.size >= MAX_SAGAS || clock.now().getTime() >= untilMs;
    let place = within;
    let isFirst = true;
    for (const day of days) {
      do {
        // At least one page per call, so that a caller who continues always comes to an end.
        if (!isFirst && isOver()) return { sagas: done.size, ...report, cursor: dayCursor(day, place) };
        isFirst = false;
        const page = await store.listEntriesByDay(day, INDEX_PAGE, place);
        const ids = new Set(page.items.map(({ sagaId }) => sagaId)).difference(done);
        for (const { written, kept } of await mapAtOnce([...ids], SAGAS_AT_ONCE, exportSaga)) {
          report.written += written;
          report.kept += kept;
        }
        for (const id of ids) done.add(id);
        place = page.cursor;
      } while (place !== undefined);
    }
    return { sagas: done.size, ...report };
  };
