/** Journals of rollbacks and rehydrates in the Sessions table, against a real DynamoDB engine, and its fake. */
import { describe, expect, test } from 'vitest';
import type { RehydrateJournal, RollbackJournal } from '../../core/checkpoint/journals.ts';
import { checkpointOf, rehydrateOf, rollbackOf } from '../support/session-items.ts';
import { SESSION_STORES } from '../support/sessions-table.ts';

/** How many of equal writes are told that they were written. */
const won = async (...writes: Promise<{ written: boolean }>[]): Promise<number> =>
  (await Promise.all(writes)).filter(({ written }) => written).length;

describe.each(SESSION_STORES)('journals in the Sessions table in %s', (_which, use) => {
  const table = use();

  test('a rollback begins once, ends once, and moves the session with it', async () => {
    const session = await table.begin('rollback');
    const journal = rollbackOf('rollback', 'r1');
    const busy = { kind: 'rollback', requestId: 'r1', untilMs: 5 } as const;
    const begun = { session: { ...session, version: 2, epoch: 2, busy }, expectedVersion: 1 };
    expect(await table.store.beginRollback(journal, begun)).toEqual({ written: true });
    expect(await table.store.beginRollback(journal, { ...begun, expectedVersion: 2 })).toMatchObject({
      written: false,
      existing: { requestId: 'r1' },
    });
    expect(await table.store.getSession('rollback')).toMatchObject({ busy, epoch: 2 });
    const done: RollbackJournal = { ...journal, phase: 'done' };
    const stale = { session: { ...session, version: 3 }, expectedVersion: 1 };
    expect(await table.store.moveRollback(done, stale)).toMatchObject({ written: false });
    expect(await table.store.getRollback('rollback', 'r1')).toMatchObject({ phase: 'started' });
    const ended = { session: { ...session, version: 3, epoch: 2, busy: undefined }, expectedVersion: 2 };
    expect(await table.store.moveRollback(done, ended)).toEqual({ written: true });
    expect((await table.store.getSession('rollback'))?.busy).toBeUndefined();
    const again = { session: { ...session, version: 4 }, expectedVersion: 3 };
    expect(await table.store.moveRollback({ ...done, phase: 'failed' }, again)).toMatchObject({
      written: false,
    });
  });

  test('a rollback that begins with its capture begins once, and then the checkpoint is there too', async () => {
    const session = await table.begin('with-capture');
    const journal: RollbackJournal = { ...rollbackOf('with-capture', 'r1'), phase: 'writing', undoSeq: 2 };
    const busy = { kind: 'rollback', requestId: 'r1', untilMs: 5 } as const;
    const write = {
      session: { ...session, version: 3, epoch: 2, seq: 2, headSeq: 2, busy },
      expectedVersion: 1,
      checkpoint: checkpointOf('with-capture', 2, { reason: 'rollback' }),
      journal,
      begins: true,
    };
    const { store } = table;
    expect(await store.commitCheckpoint({ ...write, expectedVersion: 9 })).toMatchObject({ written: false });
    expect(await store.getRollback('with-capture', 'r1')).toBeUndefined();
    expect(await store.getCheckpoint('with-capture', 2)).toBeUndefined();
    expect(await won(store.commitCheckpoint(write), store.commitCheckpoint(write))).toBe(1);
    expect(await store.getRollback('with-capture', 'r1')).toMatchObject({ phase: 'writing', undoSeq: 2 });
    expect(await table.store.getSession('with-capture')).toMatchObject({ busy, epoch: 2, headSeq: 2 });
    // Whatever began before is not begun again.
    const later = {
      ...write,
      session: { ...write.session, version: 4, seq: 3, headSeq: 3 },
      expectedVersion: 3,
      checkpoint: checkpointOf('with-capture', 3),
    };
    expect(await store.commitCheckpoint(later)).toMatchObject({ written: false });
    expect(await store.commitCheckpoint({ ...later, begins: false })).toEqual({ written: true });
  });

  test('a rollback that ends lets its target live longer, all or none', async () => {
    const session = await table.begin('keeps');
    const { store } = table;
    const begun = { session: { ...session, version: 2 }, expectedVersion: 1 };
    await store.beginRollback(rollbackOf('keeps', 'r1'), begun);
    const [checkpoint] = await store.listCheckpoints('keeps', { limit: 1 });
    if (checkpoint === undefined) throw new Error('no checkpoint');
    const upload = {
      key: 'sessions/keeps/content/x.content',
      place: { contentOf: 'keeps' },
      expiresAt: 2001,
    };
    const kept = { checkpoint, expiresAt: 2000, uploads: [upload] };
    const done: RollbackJournal = { ...rollbackOf('keeps', 'r1'), phase: 'done' };
    const move = { session: { ...session, version: 3 }, expectedVersion: 2 };
    const refused = [
      { ...kept, checkpoint: { ...checkpoint, seq: 77, toolExecutionId: 'gone' } },
      { ...kept, expiresAt: checkpoint.expiresAt - 1 },
    ];
    for (const one of refused)
      expect(await store.moveRollback(done, move, one)).toMatchObject({ written: false });
    expect(await store.getUpload(upload.key)).toBeUndefined();
    expect(await store.getRollback('keeps', 'r1')).toMatchObject({ phase: 'started' });
    expect(await store.moveRollback(done, move, kept)).toEqual({ written: true });
    expect(await store.getUpload(upload.key)).toEqual(upload);
    expect((await store.getCheckpoint('keeps', 1))?.expiresAt).toBe(2000);
    expect(await store.getRollback('keeps', 'r1')).toMatchObject({ phase: 'done' });
  });

  test('several items are read by one request, and what is not there is left out', async () => {
    const session = await table.begin('several');
    const { store } = table;
    const begun = { session: { ...session, version: 2 }, expectedVersion: 1 };
    await store.beginRollback(rollbackOf('several', 'r1'), begun);
    const baseline = await store.getCheckpoint('several', 1);
    const wanted = { session: true, toolExecutionId: 't1', seqs: [1, 1, 8], rollback: 'r1' } as const;
    const found = await store.getItems('several', { ...wanted, messageId: 'nobody' });
    expect(found).toEqual({
      session: await store.getSession('several'),
      toolSeq: 1,
      checkpoints: new Map([[1, baseline]]),
      rollback: await store.getRollback('several', 'r1'),
    });
    const none = await store.getItems('nobody', { ...wanted, messageId: 'x'.repeat(3000) });
    expect(none).toEqual({ checkpoints: new Map() });
  });

  test('of equal writes at once one wins', async () => {
    const { store, begin } = table;
    const session = await begin('equal');
    const journal = rehydrateOf('equal', 'h1');
    expect(await won(store.createRehydrate(journal), store.createRehydrate(journal))).toBe(1);
    const taken = { ...journal, attempt: 2 };
    expect(await won(store.moveRehydrate(taken, 1), store.moveRehydrate(taken, 1))).toBe(1);
    const moved = { ...session, version: 2 };
    expect(await won(store.updateSession(moved, 1), store.updateSession(moved, 1))).toBe(1);
    const copy = { sessionId: 'equal', sandboxId: 'copy', headSeq: 1, version: 1, expiresAt: 9 };
    const done: RehydrateJournal = { ...taken, phase: 'done' };
    const finish = () => store.moveRehydrate(done, 2, { copy });
    expect(await won(finish(), finish(), finish())).toBe(1);
    const later = { ...copy, version: 2 };
    expect(await won(store.updateCopy(later, 1), store.updateCopy(later, 1))).toBe(1);
  });

  test('a journal that ended takes no more captures', async () => {
    const session = await table.begin('ended');
    const journal = rollbackOf('ended', 'r1');
    await table.store.beginRollback(journal, { session: { ...session, version: 2 }, expectedVersion: 1 });
    await table.store.moveRollback(
      { ...journal, phase: 'failed' },
      { session: { ...session, version: 3 }, expectedVersion: 2 },
    );
    const late = await table.store.commitCheckpoint({
      session: { ...session, version: 4 },
      expectedVersion: 3,
      checkpoint: checkpointOf('ended', 2),
      journal: { ...journal, phase: 'writing' },
    });
    expect(late.written).toBe(false);
    expect(await table.store.getCheckpoint('ended', 2)).toBeUndefined();
  });

  test('a rehydrate is fenced by its attempt, and makes its copy once', async () => {
    await table.begin('rehydrate');
    const journal = rehydrateOf('rehydrate', 'h1');
    expect(await table.store.createRehydrate(journal)).toEqual({ written: true });
    const other = { ...journal, requestHash: 'other' };
    expect(await table.store.createRehydrate(other)).toMatchObject({
      written: false,
      existing: { requestHash: 'h' },
    });
    const taken = { ...journal, attempt: 2 };
    expect(await table.store.moveRehydrate(taken, 1)).toEqual({ written: true });
    expect(await table.store.moveRehydrate({ ...journal, phase: 'created' }, 1)).toMatchObject({
      written: false,
    });
    const copy = { sessionId: 'rehydrate', sandboxId: 'copy', headSeq: 1, version: 1, expiresAt: 9 };
    const done: RehydrateJournal = { ...taken, phase: 'done' };
    const held = async () => (await table.store.getRehydrate('rehydrate', 'h1'))?.heldUntilMs;
    const created: RehydrateJournal = { ...taken, phase: 'created', sandboxId: 'copy' };
    await table.store.holdRehydrate(taken, 5);
    expect(await held(), 'nobody holds it').toBeUndefined();
    await table.store.moveRehydrate({ ...created, heldUntilMs: 6 }, 2);
    await table.store.holdRehydrate(journal, 7);
    expect(await held(), 'it was taken over').toBe(6);
    await table.store.holdRehydrate(taken, 8);
    expect(await table.store.getRehydrate('rehydrate', 'h1')).toEqual({ ...created, heldUntilMs: 8 });
    expect(await table.store.moveRehydrate(done, 2, { copy })).toEqual({ written: true });
    expect(await table.store.getCopy('rehydrate', 'copy')).toEqual(copy);
    await table.store.holdRehydrate(done, 9);
    expect(await table.store.getRehydrate('rehydrate', 'h1'), 'it is over').toEqual(done);
    expect(await table.store.moveRehydrate(taken, 2)).toMatchObject({
      written: false,
      existing: { phase: 'done' },
    });
    const moved = { ...copy, headSeq: 2, version: 2 };
    expect(await table.store.updateCopy(moved, 1)).toEqual({ written: true });
    expect(await table.store.updateCopy({ ...copy, headSeq: 7, version: 2 }, 1)).toMatchObject({
      written: false,
      existing: { headSeq: 2 },
    });
  });
});
