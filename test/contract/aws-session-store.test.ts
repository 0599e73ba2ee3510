/** The Sessions table against a real DynamoDB engine: sessions, checkpoints, links and bases. */
import { QueryCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StoredBase } from '../../core/checkpoint/model.ts';
import type { SessionStore } from '../../core/ports.ts';
import { failing } from '../support/fakes/failing.ts';
import { checkpointOf, linkOf, sessionOf } from '../support/session-items.ts';
import { openSessionsTable, type SessionsTable } from '../support/sessions-table.ts';

describe('the Sessions table', () => {
  let table: SessionsTable;
  let store: SessionStore;
  let dynamodb: SessionsTable['dynamodb'];
  let begin: SessionsTable['begin'];
  beforeAll(async () => {
    table = await openSessionsTable();
    ({ store, dynamodb, begin } = table);
  });
  afterAll(() => table.close());

  test('a session is created once, and the second is told which one is there', async () => {
    const session = await begin('create');
    const second = await store.createSession(
      sessionOf('create', { projectsRoot: '/other' }),
      checkpointOf('create', 1),
    );
    expect(second).toMatchObject({ written: false, existing: { projectsRoot: '/projects' } });
    expect(await store.getSession('create')).toEqual(JSON.parse(JSON.stringify(session)));
    expect(await store.getSession('nobody')).toBeUndefined();
  });

  test('a session moves only from the version that was read', async () => {
    const session = await begin('move');
    const next = { ...session, version: 2, seq: 9 };
    expect(await store.updateSession(next, 1)).toEqual({ written: true });
    const late = await store.updateSession({ ...session, version: 2, seq: 5 }, 1);
    expect(late).toMatchObject({ written: false, existing: { version: 2, seq: 9 } });
  });

  test('a write that was done and is repeated counts as written', async () => {
    const session = await begin('repeat');
    const next = { ...session, version: 2 };
    await store.updateSession(next, 1);
    expect(await store.updateSession(next, 1)).toEqual({ written: true });
  });

  test('a checkpoint is all or none: session, item, tool execution and message', async () => {
    const session = await begin('commit');
    const checkpoint = checkpointOf('commit', 2, { messageId: 'm1', messageOrder: 1 });
    const message = { messageId: 'm1', order: 1, firstSeq: 2, lastSeq: 2 };
    const write = {
      session: { ...session, version: 2, seq: 2, headSeq: 2 },
      expectedVersion: 1,
      checkpoint,
      message,
    };
    expect(await store.commitCheckpoint(write)).toEqual({ written: true });
    expect(await store.getCheckpoint('commit', 2)).toEqual(checkpoint);
    expect(await store.findCheckpointByTool('commit', 't2')).toEqual(checkpoint);
    expect(await store.findMessage('commit', 'm1')).toEqual(message);
    // Same tool execution again, at the right version: nothing of it is written.
    const again = await store.commitCheckpoint({
      ...write,
      session: { ...session, version: 3, seq: 3, headSeq: 3 },
      expectedVersion: 2,
      checkpoint: checkpointOf('commit', 3, { toolExecutionId: 't2' }),
    });
    expect(again).toEqual({ written: false, existing: undefined });
    expect(await store.getSession('commit')).toMatchObject({ version: 2, seq: 2 });
    const late = await store.commitCheckpoint({ ...write, checkpoint: checkpointOf('commit', 3) });
    expect(late).toMatchObject({ written: false, existing: { version: 2 } });
    expect(await store.getCheckpoint('commit', 3)).toBeUndefined();
  });

  test('checkpoints are listed newest first in pages, the tree oldest first, messages in order', async () => {
    let session = await begin('list');
    for (let seq = 2; seq <= 12; seq++) {
      const message = { messageId: `m${seq}`, order: seq - 1, firstSeq: seq, lastSeq: seq };
      const moved = { ...session, version: session.version + 1, seq, headSeq: seq };
      const checkpoint = checkpointOf('list', seq, {
        messageId: message.messageId,
        messageOrder: message.order,
      });
      await store.commitCheckpoint({ session: moved, expectedVersion: session.version, checkpoint, message });
      session = moved;
    }
    const seqs = async (options: { limit: number; beforeSeq?: number }) =>
      (await store.listCheckpoints('list', options)).map(({ seq }) => seq);
    expect(await seqs({ limit: 3 })).toEqual([12, 11, 10]);
    expect(await seqs({ limit: 3, beforeSeq: 10 })).toEqual([9, 8, 7]);
    expect(await seqs({ limit: 3, beforeSeq: 1 })).toEqual([]);
    expect(await seqs({ limit: 100, beforeSeq: 3 })).toEqual([2, 1]);
    const tree = await store.listTree('list');
    expect(tree.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(tree[0]).toEqual({
      seq: 1,
      parentSeq: null,
      messageId: null,
      messageOrder: null,
      checkpointId: 'cp-1',
      reason: 'before-tool',
      complete: true,
      detached: false,
    });
    expect((await store.listMessages('list')).map(({ messageId }) => messageId)).toHaveLength(11);
  });

  test('the indexes find checkpoints by id and by message, and nothing else', async () => {
    const session = await begin('index');
    const checkpoint = checkpointOf('index', 2, {
      checkpointId: 'cp-index',
      messageId: 'm-index',
      messageOrder: 1,
    });
    const message = { messageId: 'm-index', order: 1, firstSeq: 2, lastSeq: 2 };
    const moved = { ...session, version: 2 };
    await store.commitCheckpoint({ session: moved, expectedVersion: 1, checkpoint, message });
    const find = async (IndexName: string, name: string, value: string) => {
      const command = new QueryCommand({
        TableName: 'sessions',
        IndexName,
        KeyConditionExpression: `${name} = :value`,
        ExpressionAttributeValues: { ':value': { S: value } },
      });
      return (await dynamodb.send(command)).Items?.map(({ sk }) => sk?.S);
    };
    expect(await find('gsi_checkpoint', 'checkpointId', 'cp-index')).toEqual(['CP#00000002']);
    expect(await find('gsi_message', 'messageId', 'm-index')).toEqual(['CP#00000002']);
  });

  test('links are stored in any number, and listed in order', async () => {
    const links = Array.from({ length: 64 }, (_, at) => linkOf('links', at));
    await store.putLinks(links.toReversed());
    await store.putLinks(links.slice(0, 3));
    await store.putLinks([]);
    expect(await store.listLinks('links', 'chain')).toEqual(links);
    expect(await store.listLinks('links', 'chai')).toEqual([]);
  });

  test('the first base stays, and its life only grows', async () => {
    const base: StoredBase = {
      name: 'sha1-x',
      commit: 'x',
      key: 'first',
      sizeBytes: 1,
      sha256: 'a',
      shallow: false,
      partial: false,
      expiresAt: 50,
    };
    expect(await store.putBase(base)).toEqual(base);
    const longer = await store.putBase({ ...base, key: 'second', sizeBytes: 2, expiresAt: 90 });
    expect(longer).toEqual({ ...base, expiresAt: 90 });
    expect(await store.putBase({ ...base, expiresAt: 70 })).toEqual({ ...base, expiresAt: 90 });
    expect(await store.getBase('sha1-x')).toEqual({ ...base, expiresAt: 90 });
    expect(await store.getBase('sha1-y')).toBeUndefined();
  });

  test('a checkpoint is prolonged, never shortened, and not brought back', async () => {
    await begin('prolong');
    await store.prolongCheckpoint('prolong', 1, 2000);
    await store.prolongCheckpoint('prolong', 1, 1500);
    await store.prolongCheckpoint('prolong', 7, 1500);
    expect(await store.getCheckpoint('prolong', 1)).toMatchObject({ expiresAt: 2000 });
    expect(await store.getCheckpoint('prolong', 7)).toBeUndefined();
  });

  test('sessions are listed page by page', async () => {
    const ids = ['page-a', 'page-b', 'page-c', 'page-d'];
    for (const id of ids) await begin(id);
    const all = new Set<string>();
    let cursor: string | undefined;
    do {
      const page = await store.listSessions(3, cursor);
      expect(page.sessions.length).toBeLessThanOrEqual(3);
      for (const { sessionId } of page.sessions) all.add(sessionId);
      ({ cursor } = page);
    } while (cursor !== undefined);
    expect([...all]).toEqual(expect.arrayContaining(ids));
    await failing(store.listSessions(3, 'x'), 'InvalidInput');
  });
});
