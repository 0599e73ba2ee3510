/** The export of the ledger: whatever is delivered twice, late, out of order or fails, a query sees each effect once, as it is. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createBackfill,
  createExportChanges,
  createExportSaga,
  type ExportStore,
} from '../../core/saga/ledger/export-ledger.ts';
import type { LedgerEntry } from '../../core/saga/model/ledger-entry.ts';
import type { SagaStore } from '../../core/saga/ports.ts';
import { WalkbackError } from '../../core/shared/errors.ts';
import { clock, exportedOf, memoryExports, sagasOf } from '../support/ledger-export.ts';
import { openLedger } from '../support/ledger-world.ts';

const log = { info: () => undefined, warn: () => undefined };

/** A store that answers each read as of an earlier moment, or with an entry of a transaction missing. */
const readsOf = (entries: readonly LedgerEntry[], seen: number, hole?: number) => ({
  pageEntries: async (_: string, from: number, limit: number) => {
    const items = entries.slice(0, seen).filter(({ seq }) => seq >= from && seq !== hole);
    const page = items.slice(0, limit);
    const last = page.at(-1);
    return {
      items: page,
      ...(items.length > page.length && last !== undefined ? { next: last.seq + 1 } : {}),
    };
  },
});

describe('whenever it is read', () => {
  test('objects end as of the last entry, in any order of deliveries, with old reads and gaps', async () => {
    let gaps = 0;
    await fc.assert(
      fc.asyncProperty(sagasOf(true), fc.infiniteStream(fc.nat()), async (ledgers, numbers) => {
        const exports = memoryExports();
        const next = (below: number): number => (numbers.next().value ?? 0) % below;
        const runs = ledgers.flatMap((entries) => [
          ...Array.from({ length: 6 }, () => {
            const hole = next(entries.length);
            gaps += 1;
            return { entries, seen: next(entries.length + 1), hole };
          }),
          ...Array.from({ length: 3 }, () => ({
            entries,
            seen: next(entries.length + 1),
            hole: undefined,
          })),
          { entries, seen: entries.length, hole: undefined },
        ]);
        const shuffled = runs
          .map((run) => [next(1000), run] as const)
          .toSorted(([one], [other]) => one - other)
          .map(([, run]) => run);
        // Half of them at once.
        const act = ({ entries, seen, hole }: (typeof runs)[number]) =>
          createExportSaga({ store: readsOf(entries, seen, hole), exports: exports.store, clock })(
            entries[0]?.sagaId ?? '',
          );
        const half = Math.floor(shuffled.length / 2);
        await Promise.all(shuffled.slice(0, half).map(act));
        for (const run of shuffled.slice(half)) await act(run);
        expect(exports.texts()).toEqual(await exportedOf(ledgers));
      }),
      { numRuns: 60 },
    );
    expect(gaps).toBeGreaterThan(60);
  });

  test('what is newer is never replaced, and what is as new is not written again', async () => {
    const [ledger = []] = fc.sample(sagasOf(true), { numRuns: 1, seed: 7 })[0] ?? [];
    const exports = memoryExports();
    const sagaId = ledger[0]?.sagaId ?? '';
    const whole = createExportSaga({ store: readsOf(ledger, ledger.length), exports: exports.store, clock });
    const first = await whole(sagaId);
    const texts = exports.texts();
    expect(first.written).toBe(texts.size);
    expect(first.written).toBeGreaterThan(0);
    expect(await whole(sagaId)).toEqual({ written: 0, kept: first.written });
    for (let seen = 0; seen < ledger.length; seen++) {
      const old = createExportSaga({ store: readsOf(ledger, seen), exports: exports.store, clock });
      expect((await old(sagaId)).written).toBe(0);
    }
    expect(exports.texts()).toEqual(texts);
  });

  test('what was made in a lower form of as many entries is replaced, and of more of them is not', async () => {
    const [ledger = []] = fc.sample(sagasOf(true), { numRuns: 1, seed: 7 })[0] ?? [];
    const exports = memoryExports();
    const whole = createExportSaga({ store: readsOf(ledger, ledger.length), exports: exports.store, clock });
    const sagaId = ledger[0]?.sagaId ?? '';
    const { written } = await whole(sagaId);
    const texts = exports.texts();
    for (const [key, object] of exports.objects) {
      exports.objects.set(key, { ...object, form: -1, body: 'without a line' });
    }
    expect(await whole(sagaId)).toEqual({ written, kept: 0 });
    expect(exports.texts()).toEqual(texts);
    for (const [key, object] of exports.objects) {
      exports.objects.set(key, { ...object, form: -1, seq: object.seq + 1 });
    }
    expect(await whole(sagaId)).toEqual({ written: 0, kept: written });
  });

  test('a child saga has a name that is a name everywhere', async () => {
    const [ledgers = []] = fc.sample(sagasOf(true), { numRuns: 1, seed: 7 });
    for (const key of (await exportedOf(ledgers)).keys()) {
      expect(key).toMatch(/^(effects|reconciliations)\/day=\d{4}-\d\d-\d\d\/root!\d+\.json$/);
    }
  });
});

describe('faults of the bucket', () => {
  const broken = new WalkbackError('StorageUnavailable', 'S3 did not answer.', { retryable: true });
  const [ledgers = []] = fc.sample(sagasOf(true), { numRuns: 1, seed: 11 });
  const changes = ledgers.flatMap(([first], index) => [
    { id: `pin-${index}` },
    { id: `head-${index}`, sagaId: first?.sagaId ?? '' },
    { id: `again-${index}`, sagaId: first?.sagaId ?? '' },
  ]);
  const consume = (exports: ExportStore) => {
    const { store } = openLedger(ledgers);
    return createExportChanges({ exportSaga: createExportSaga({ store, exports, clock }), log });
  };

  test('at any call, before it or after it: the batch is delivered again from there, and all is as without', async () => {
    const expected = await exportedOf(ledgers);
    const quiet = memoryExports();
    expect(await consume(quiet.store)(changes)).toBeUndefined();
    expect(quiet.texts()).toEqual(expected);
    const count = quiet.calls();
    expect(count).toBeGreaterThan(10);
    let failures = 0;
    for (const when of ['before', 'after'] as const) {
      for (let at = 1; at <= count; at++) {
        const exports = memoryExports((call, moment) => {
          if (call === at && moment === when) throw broken;
        });
        const failedAt = await consume(exports.store)(changes);
        // A read changes nothing, so nothing can fail after it.
        if (failedAt === undefined) {
          expect(when).toBe('after');
          continue;
        }
        failures += 1;
        expect(changes[failedAt]?.id).toMatch(/^head-/);
        expect(await consume(exports.store)(changes.slice(failedAt))).toBeUndefined();
        expect(exports.texts()).toEqual(expected);
      }
    }
    expect(failures).toBeGreaterThan(count);
  });

  test('of one saga leave the others exported', async () => {
    const [victim] = ledgers[0] ?? [];
    const exports = memoryExports();
    const failing: ExportStore = {
      find: (key) =>
        key.includes(victim?.sagaId.replace(':', '!') ?? '')
          ? Promise.reject(broken)
          : exports.store.find(key),
      put: (object, before) => exports.store.put(object, before),
    };
    expect(await consume(failing)(changes)).toBe(1);
    expect(exports.texts()).toEqual(await exportedOf(ledgers.slice(1)));
  });
});

describe('backfill', () => {
  const [ledgers = []] = fc.sample(sagasOf(true), { numRuns: 1, seed: 5 });
  const far = { deadlineMs: clock.now().getTime() + 300_000 };

  const backfillOf = (exports: ExportStore, store: SagaStore = openLedger(ledgers).store) =>
    createBackfill({ store, exportSaga: createExportSaga({ store, exports, clock }), clock });

  test('writes what the stream would have, and a second time nothing', async () => {
    const exports = memoryExports();
    const backfill = backfillOf(exports.store);
    const report = await backfill({ from: '2026-03-01' }, far);
    expect(report).toMatchObject({ sagas: ledgers.length, written: exports.objects.size, kept: 0 });
    expect(exports.texts()).toEqual(await exportedOf(ledgers));
    expect(await backfill({ from: '2026-03-01' }, far)).toMatchObject({
      written: 0,
      kept: exports.objects.size,
    });
  });

  test('that has no time left says where to go on, and comes to its end', async () => {
    const exports = memoryExports();
    const backfill = backfillOf(exports.store);
    let cursor: string | undefined;
    let calls = 0;
    do {
      const answer = await backfill(
        { from: '2026-03-01', ...(cursor === undefined ? {} : { cursor }) },
        { deadlineMs: clock.now().getTime() },
      );
      cursor = answer.cursor;
      calls += 1;
    } while (cursor !== undefined && calls < 100);
    expect(calls).toBeGreaterThan(5);
    expect(calls).toBeLessThan(100);
    expect(exports.texts()).toEqual(await exportedOf(ledgers));
  });

  test('over a long range answers where to go on before the HTTP API stops waiting', async () => {
    const exports = memoryExports();
    let nowMs = clock.now().getTime();
    const { store } = openLedger(ledgers);
    // Each day takes its time, also an empty one.
    const slow: Pick<SagaStore, 'listEntriesByDay'> = {
      listEntriesByDay: (...asked) => {
        nowMs += 50;
        return store.listEntriesByDay(...asked);
      },
    };
    const slowClock = { ...clock, now: () => new Date(nowMs) };
    const exportSaga = createExportSaga({ store, exports: exports.store, clock: slowClock });
    const backfill = createBackfill({ store: slow, exportSaga, clock: slowClock });
    let cursor: string | undefined;
    let calls = 0;
    do {
      const begunMs = nowMs;
      ({ cursor } = await backfill({ from: '2017-01-01', ...(cursor === undefined ? {} : { cursor }) }, far));
      expect(nowMs - begunMs).toBeLessThan(20_000);
      calls += 1;
    } while (cursor !== undefined && calls < 100);
    expect(calls).toBeGreaterThan(5);
    expect(cursor).toBeUndefined();
    expect(exports.texts()).toEqual(await exportedOf(ledgers));
  });

  test('exports sagas of these days whole, and no others', async () => {
    const exports = memoryExports();
    await backfillOf(exports.store)({ from: '2026-03-15', to: '2026-03-18' }, far);
    expect(exports.texts()).toEqual(new Map());
  });
});
