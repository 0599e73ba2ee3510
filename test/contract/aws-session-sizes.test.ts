/** The largest items and answers of the Sessions table, against a real DynamoDB engine. */
import { BatchWriteItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, test } from 'vitest';
import { checkpointItem } from '../../adapters/aws/sessions/session-items.ts';
import { rollbackResult } from '../../core/checkpoint/attempt/rollback-state.ts';
import type { RollbackJournal } from '../../core/checkpoint/journals.ts';
import type { Checkpoint, CheckpointContent } from '../../core/checkpoint/model.ts';
import { createListSessions } from '../../core/checkpoint/session/list-sessions.ts';
import { createTimeline } from '../../core/checkpoint/timeline/timeline.ts';
import { failing } from '../support/fakes/failing.ts';
import { checkpointOf, rollbackOf, sessionOf, wideCheckpointOf as wide } from '../support/session-items.ts';
import { useSessionsTable } from '../support/sessions-table.ts';

const HEAD = { kind: 'branch' as const, branch: 'main', commit: 'a'.repeat(40) };

describe('what is as large as it may be', () => {
  const table = useSessionsTable();

  test('the largest checkpoint that is let through fits an item; a larger one says so and leaves nothing', async () => {
    const session = await table.begin('large');
    const commit = (count: number) =>
      table.store.commitCheckpoint({
        session: { ...session, version: 2, seq: 2, headSeq: 2 },
        expectedVersion: 1,
        checkpoint: wide('large', 2, count),
        message: { messageId: 'm-large', order: 1, firstSeq: 2, lastSeq: 2, lastId: 'cp-2' },
      });
    const error = await failing(commit(2000), 'CaptureFailed');
    expect(error.message).toContain('2000 repositories');
    expect(await table.store.getSession('large')).toMatchObject({ version: 1, seq: 1 });
    expect(await table.store.getCheckpoint('large', 2)).toBeUndefined();
    expect(await table.store.findCheckpointByTool('large', 't2')).toBeUndefined();
    expect(await table.store.findMessage('large', 'm-large')).toBeUndefined();

    // Found by halving: what the check lets through, the service takes.
    let [fits, over] = [1, 2000];
    const isLetThrough = (count: number): boolean => {
      try {
        checkpointItem(wide('large', 2, count));
        return true;
      } catch {
        return false;
      }
    };
    while (over - fits > 1) {
      const middle = Math.floor((fits + over) / 2);
      if (isLetThrough(middle)) fits = middle;
      else over = middle;
    }
    await failing(commit(over), 'CaptureFailed');
    expect(await commit(fits)).toEqual({ written: true });
    expect((await table.store.getCheckpoint('large', 2))?.repositories).toHaveLength(fits);
  });

  test('the names of what was in the stash take no room from the repositories', async () => {
    const session = await table.begin('stashes');
    const plain = wide('stashes', 2, 1000);
    const stash = Array.from({ length: 10 }, (_, at) => `${at}`.repeat(40));
    const checkpoint = { ...plain, repositories: plain.repositories.map((one) => ({ ...one, stash })) };
    const moved = { ...session, version: 2, seq: 2, headSeq: 2 };
    const write = { session: moved, expectedVersion: 1, checkpoint };
    expect(await table.store.commitCheckpoint(write)).toEqual({ written: true });
    expect((await table.store.getCheckpoint('stashes', 2))?.repositories).toEqual(plain.repositories);
  });

  test('what people read of a checkpoint gives way to what a restore needs, and that is said', async () => {
    const withContent = (count: number, more: Partial<CheckpointContent> = {}): Checkpoint => {
      const plain = wide('told', 2, count, 4000);
      const changes = plain.repositories.map(({ path }) => ({
        path,
        files: 1,
        added: 1,
        deleted: 1,
        problem: 'p'.repeat(300),
      }));
      const said = { message: { role: 'user', title: 't'.repeat(256) }, changes, ...more };
      return { ...plain, content: said };
    };
    const session = await table.begin('told');
    let version = 1;
    const commit = async (checkpoint: Checkpoint) => {
      version += 1;
      const seq = version;
      const item = { ...checkpoint, seq, toolExecutionId: `t${seq}`, checkpointId: `cp-${seq}` };
      const moved = { ...session, version, seq, headSeq: seq };
      const write = { session: moved, expectedVersion: version - 1, checkpoint: item };
      expect(await table.store.commitCheckpoint(write)).toEqual({ written: true });
      return table.store.getCheckpoint('told', seq);
    };
    // All of it fits; the changes do not; nothing but the repositories does.
    expect((await commit(withContent(20)))?.content?.changes).toHaveLength(20);
    const object = { key: 'k', sizeBytes: 1, sha256: 's' };
    const said = { at: 0, bytes: 1 };
    const lesser = await commit(withContent(60, { object, said }));
    expect(lesser?.repositories).toHaveLength(60);
    expect(lesser?.content).toEqual({
      message: { role: 'user', title: 't'.repeat(256) },
      object,
      said,
      problem: 'the changes of 60 repositories are not kept: the checkpoint has no room for them',
    });
    const message = { role: 'user', text: 'x'.repeat(350_000) };
    const least = await commit(withContent(60, { message }));
    expect(least?.repositories).toHaveLength(60);
    expect(least?.content).toEqual({ problem: 'the checkpoint has no room for it' });
  });

  test('the timeline of 300 checkpoints, some as wide as an item, is answered page by page', async () => {
    const COUNT = 300;
    const WIDE = 24;
    const put = async (checkpoints: Checkpoint[]) => {
      const requests = checkpoints.map((one) => ({
        PutRequest: { Item: marshall(checkpointItem(one), { removeUndefinedValues: true }) },
      }));
      await table.dynamodb.send(new BatchWriteItemCommand({ RequestItems: { [table.tableName]: requests } }));
    };
    const session = sessionOf('many', { seq: COUNT, headSeq: COUNT });
    await table.store.createSession(session, checkpointOf('many', 1));
    // The newest are wide: 6.5 MB together.
    for (let from = 2; from <= COUNT; from += 25) {
      const seqs = Array.from({ length: Math.min(25, COUNT - from + 1) }, (_, at) => from + at);
      await put(
        seqs.map((seq) => (seq > COUNT - WIDE ? wide('many', seq, 70, 4000) : checkpointOf('many', seq))),
      );
    }
    const timeline = createTimeline({
      store: table.store,
      clock: { now: () => new Date(), sleep: async () => undefined },
    });
    const seen: number[] = [];
    let cursor: string | undefined;
    do {
      const answer = await timeline({ sessionId: 'many', limit: 200, ...(cursor && { cursor }) });
      expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(3_000_000);
      seen.push(...answer.checkpoints.map(({ seq }) => seq));
      ({ cursor } = answer);
    } while (seen.length < 7);
    expect(seen).toEqual(Array.from(seen, (_, at) => COUNT - at));
    // Behind the wide ones, the limit is what ends a page.
    const narrow = await timeline({ sessionId: 'many', limit: 200, cursor: `before-${COUNT - WIDE + 1}` });
    expect(narrow.checkpoints.map(({ seq }) => seq)).toEqual(
      Array.from({ length: 200 }, (_, at) => COUNT - WIDE - at),
    );
    expect(narrow.cursor).toBeDefined();
  });

  test('the journal of a rollback over 6,000 messages fits its item, and says what it leaves out', async () => {
    const session = await table.begin('messages');
    const undo = wide('messages', 6001, 300);
    const tree = Array.from({ length: 6001 }, (_, at) => ({
      ...checkpointOf('messages', at + 1),
      messageId: at === 0 ? null : `${at}-`.padEnd(64, 'm'),
      messageOrder: at === 0 ? null : at,
    }));
    const result = rollbackResult({
      status: 'APPLIED',
      journal: { epoch: 2 },
      target: checkpointOf('messages', 1),
      undo,
      tree,
      report: {
        outcome: 'applied',
        problems: [],
        roundTrips: 1,
        repositories: undo.repositories.map(({ path }) => ({
          path,
          written: 1,
          deleted: 0,
          action: 'restored' as const,
          verified: null,
          paths: [],
        })),
        warnings: [],
      },
      warnings: Array.from({ length: 500 }, (_, at) => `warning ${at}`),
    });
    expect(result.discardedMessageIds).toHaveLength(2000);
    expect(result.warnings).toHaveLength(202);
    expect(result.warnings.at(-1)).toContain('4000 more messages');
    const journal = { ...rollbackOf('messages', 'r'), result };
    const moved = { session: { ...session, version: 2 }, expectedVersion: 1 };
    expect(await table.store.beginRollback(journal, moved)).toEqual({ written: true });
    expect((await table.store.getRollback('messages', 'r'))?.result).toEqual(result);
  });

  test('whatever there is to say of a rollback, its end fits the journal', async () => {
    const session = await table.begin('endless');
    let version = 1;
    const LONG = 'ü/'.repeat(1300);
    const host = {
      head: { from: HEAD, to: HEAD },
      branches: Array.from({ length: 300 }, (_, at) => ({
        name: `branch-${at}-`.padEnd(200, 'b'),
        from: 'a'.repeat(40),
        to: null,
        commitsLeft: 1,
      })),
    };
    const finish = async (much: { repositories: number; pathLength: number; asked: number }) => {
      version += 1;
      const undo = wide('endless', 6001, much.repositories, much.pathLength);
      const failures = Array.from({ length: 100 }, () => ({ path: LONG, reason: LONG }));
      const conflicts = Array.from({ length: 200 }, (_, at) => ({
        repository: 'app',
        path: `${LONG}${at}`,
        kind: 'content' as const,
        message: LONG,
      }));
      const tree = Array.from({ length: 6001 }, (_, at) => ({
        ...checkpointOf('endless', at + 1),
        messageId: at === 0 ? null : `${at}-`.padEnd(64, 'm'),
        messageOrder: at === 0 ? null : at,
      }));
      const paths = Array.from({ length: much.asked }, (_, at) => `${at}`.padEnd(600, 'p'));
      const journal: RollbackJournal = {
        ...rollbackOf('endless', `r${version}`),
        composition: { kind: 'paths', fromSeq: 1, fromId: 'cp-1', paths },
      };
      const result = rollbackResult({
        status: 'APPLIED',
        journal,
        target: checkpointOf('endless', 1),
        undo: { ...undo, failures },
        tree,
        report: {
          outcome: 'applied',
          problems: [],
          roundTrips: 1,
          repositories: undo.repositories.map(({ path }, at) => ({
            path,
            written: 1,
            deleted: 0,
            action: at % 2 === 0 ? ('unchanged' as const) : ('restored' as const),
            verified: null,
            paths: [],
            host,
          })),
          warnings: [],
        },
        warnings: Array.from({ length: 500 }, () => LONG),
        composed: { conflicts, warnings: Array.from({ length: 500 }, () => LONG) },
        lateWrites: { checkpointId: 'cp-1', files: [] },
      });
      const moved = { session: { ...session, version }, expectedVersion: version - 1 };
      const ended: RollbackJournal = { ...journal, phase: 'done', result };
      expect(await table.store.beginRollback(ended, moved)).toEqual({ written: true });
      return result;
    };
    const few = await finish({ repositories: 3, pathLength: 200, asked: 1 });
    expect(few.repositories).toHaveLength(3);
    const marks = few.warnings.filter((line) => !line.startsWith('ü'));
    expect(marks.join('; ')).toMatch(
      /^\d+ more warnings; \d+ more branches change; what changes beside files in 1 more repository is not listed; \d+ more messages are discarded/,
    );
    expect(few.conflicts?.length).toBeGreaterThan(2);
    // Of many whose names are long, those that changed are named.
    const many = await finish({ repositories: 95, pathLength: 4000, asked: 200 });
    expect(many.repositories.length).toBeGreaterThan(10);
    expect(many.repositories.every(({ action }) => action === 'restored')).toBe(true);
    expect(many.warnings.join('; ')).toContain(
      `${95 - many.repositories.length} more repositories are not listed`,
    );
  });

  test('sessions as large as they come are listed page by page; a larger one is refused', async () => {
    const metadata = Object.fromEntries(
      Array.from({ length: 50 }, (_, at) => [`key-${at}`, 'x'.repeat(1024)]),
    );
    const include = Array.from({ length: 200 }, () => 'y'.repeat(512));
    const ids = Array.from({ length: 12 }, (_, at) => `bulky-${at}`);
    for (const id of ids) {
      await table.store.createSession(
        sessionOf(id, { metadata, include, exclude: include }),
        checkpointOf(id, 1),
      );
    }
    const listed: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await createListSessions({ store: table.store })({
        limit: 200,
        ...(cursor && { cursor }),
      });
      expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(2_000_000);
      listed.push(...page.sessions.map(({ sessionId }) => sessionId));
      ({ cursor } = page);
    } while (cursor !== undefined);
    expect(listed.filter((id) => id.startsWith('bulky-')).sort()).toEqual(ids.toSorted());
    expect(new Set(listed).size).toBe(listed.length);

    const wider = sessionOf('bulkier', { include: include.map(() => 'é'.repeat(512)), exclude: include });
    const full = { ...wider, metadata: { ...metadata, more: 'z'.repeat(50_000) } };
    await failing(table.store.createSession(full, checkpointOf('bulkier', 1)), 'InvalidInput');
    expect(await table.store.getSession('bulkier')).toBeUndefined();
  });
});
