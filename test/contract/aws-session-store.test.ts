/** The Sessions table against a real DynamoDB engine, and its fake: sessions, checkpoints, links and bases. */
import {
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from 'vitest';
import { CLIENT_DEFAULTS } from '../../adapters/aws/client-defaults.ts';
import { createSessionStore } from '../../adapters/aws/sessions/session-store.ts';
import { outlineOf } from '../../core/checkpoint/timeline/outline.ts';
import { credentials } from '../support/dynamodb.ts';
import { failing } from '../support/fakes/failing.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { baseOf, checkpointOf, linkOf, sessionOf } from '../support/session-items.ts';
import { SESSION_STORES, useSessionsTable } from '../support/sessions-table.ts';

describe.each(SESSION_STORES)('the Sessions table in %s', (_which, use) => {
  const table = use();

  test('a session is created once, and the second is told which one is there', async () => {
    const session = await table.begin('create');
    const second = await table.store.createSession(
      sessionOf('create', { projectsRoot: '/other' }),
      checkpointOf('create', 1),
    );
    expect(second).toMatchObject({ written: false, existing: { projectsRoot: '/projects' } });
    expect(await table.store.getSession('create')).toEqual(JSON.parse(JSON.stringify(session)));
    expect(await table.store.getSession('nobody')).toBeUndefined();
  });

  test('a session moves only from the version that was read', async () => {
    const session = await table.begin('move');
    const next = { ...session, version: 2, seq: 9 };
    expect(await table.store.updateSession(next, 1)).toEqual({ written: true });
    const late = await table.store.updateSession({ ...session, version: 2, seq: 5 }, 1);
    expect(late).toMatchObject({ written: false, existing: { version: 2, seq: 9 } });
  });

  test('a checkpoint is all or none: session, item, tool execution and message', async () => {
    const session = await table.begin('commit');
    const checkpoint = checkpointOf('commit', 2, { messageId: 'm1', messageOrder: 1 });
    const message = { messageId: 'm1', order: 1, firstSeq: 2, lastSeq: 2, lastId: 'cp-2' };
    const write = {
      session: { ...session, version: 2, seq: 2, headSeq: 2 },
      expectedVersion: 1,
      checkpoint,
      message,
    };
    expect(await table.store.commitCheckpoint(write)).toEqual({ written: true });
    expect(await table.store.getCheckpoint('commit', 2)).toEqual(checkpoint);
    expect(await table.store.findCheckpointByTool('commit', 't2')).toEqual(checkpoint);
    expect(await table.store.findMessage('commit', 'm1')).toEqual(message);
    // Same tool execution again, at the right version: nothing of it is written.
    const again = await table.store.commitCheckpoint({
      ...write,
      session: { ...session, version: 3, seq: 3, headSeq: 3 },
      expectedVersion: 2,
      checkpoint: checkpointOf('commit', 3, { toolExecutionId: 't2' }),
    });
    expect(again).toEqual({ written: false, existing: undefined });
    expect(await table.store.getSession('commit')).toMatchObject({ version: 2, seq: 2 });
    const late = await table.store.commitCheckpoint({ ...write, checkpoint: checkpointOf('commit', 3) });
    expect(late).toMatchObject({ written: false, existing: { version: 2 } });
    expect(await table.store.getCheckpoint('commit', 3)).toBeUndefined();
  });

  test('checkpoints are listed newest first in pages, the tree oldest first, messages in order', async () => {
    let session = await table.begin('list');
    for (let seq = 2; seq <= 12; seq++) {
      const message = {
        messageId: `m${seq}`,
        order: seq - 1,
        firstSeq: seq,
        lastSeq: seq,
        lastId: `cp-${seq}`,
      };
      const moved = { ...session, version: session.version + 1, seq, headSeq: seq };
      const checkpoint = checkpointOf('list', seq, {
        messageId: message.messageId,
        messageOrder: message.order,
      });
      await table.store.commitCheckpoint({
        session: moved,
        expectedVersion: session.version,
        checkpoint,
        message,
      });
      session = moved;
    }
    const seqs = async (options: { limit: number; beforeSeq?: number }) =>
      (await table.store.listCheckpoints('list', options)).map(({ seq }) => seq);
    expect(await seqs({ limit: 3 })).toEqual([12, 11, 10]);
    expect(await seqs({ limit: 3, beforeSeq: 10 })).toEqual([9, 8, 7]);
    expect(await seqs({ limit: 3, beforeSeq: 1 })).toEqual([]);
    expect(await seqs({ limit: 100, beforeSeq: 3 })).toEqual([2, 1]);
    const tree = await table.store.listTree('list');
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
      createdAt: '2026-01-01T00:00:00.000Z',
    });
    expect((await table.store.listMessages('list')).map(({ messageId }) => messageId)).toHaveLength(11);
  });

  test('links are stored in any number, and listed in order', async () => {
    const links = Array.from({ length: 64 }, (_, at) => linkOf('links', at));
    await table.store.putLinks(links.toReversed());
    await table.store.putLinks(links.slice(0, 3));
    await table.store.putLinks([]);
    expect(await table.store.listLinks('links', 'chain')).toEqual(links);
    expect(await table.store.listLinks('links', 'chai')).toEqual([]);
  });

  test('the first base stays, and its life only grows', async () => {
    const base = baseOf('sha1-x', 'first');
    expect(await table.store.putBase(base)).toEqual(base);
    const longer = await table.store.putBase({ ...base, key: 'second', sizeBytes: 2, expiresAt: 90 });
    expect(longer).toEqual({ ...base, expiresAt: 90 });
    expect(await table.store.putBase({ ...base, expiresAt: 70 })).toEqual({ ...base, expiresAt: 90 });
    expect(await table.store.getBase('sha1-x', 'tenant/a')).toEqual({ ...base, expiresAt: 90 });
    expect(await table.store.getBase('sha1-y', 'tenant/a')).toBeUndefined();
  });

  test('a base of one owner is not found by another', async () => {
    const base = baseOf('sha1-owned', 'a');
    await table.store.putBase(base);
    expect(await table.store.getBase('sha1-owned', 'tenant/a')).toEqual(base);
    expect(await table.store.getBase('sha1-owned', 'tenant/b')).toBeUndefined();
  });

  test('a link that is there stays what it is, and its life only grows', async () => {
    const link = linkOf('kept', 0);
    await table.store.putLinks([link]);
    const other = { ...link, bundle: { ...link.bundle, key: 'other' } };
    await table.store.putLinks([{ ...other, expiresAt: link.expiresAt + 5 }]);
    expect(await table.store.listLinks('kept', 'chain')).toEqual([
      { ...link, expiresAt: link.expiresAt + 5 },
    ]);
    await table.store.putLinks([{ ...other, expiresAt: 1 }]);
    expect(await table.store.listLinks('kept', 'chain')).toEqual([
      { ...link, expiresAt: link.expiresAt + 5 },
    ]);
  });

  test('links of a checkpoint are stored with it or not at all, and none replaces another', async () => {
    const session = await table.begin('with-links');
    const [first, second] = [linkOf('with-links', 0), linkOf('with-links', 1)];
    await table.store.putLinks([first]);
    const other = {
      ...first,
      bundle: { ...first.bundle, key: 'other', at: 9 },
      expiresAt: first.expiresAt + 5,
    };
    const write = {
      session: { ...session, version: 2, seq: 2, headSeq: 2 },
      expectedVersion: 7,
      checkpoint: checkpointOf('with-links', 2),
      links: [other, second],
    };
    expect(await table.store.commitCheckpoint(write)).toMatchObject({ written: false });
    expect(await table.store.listLinks('with-links', 'chain')).toEqual([first]);
    expect(await table.store.commitCheckpoint({ ...write, expectedVersion: 1 })).toEqual({ written: true });
    expect(await table.store.listLinks('with-links', 'chain')).toEqual([
      { ...first, expiresAt: first.expiresAt + 5 },
      second,
    ]);
  });

  test('more links than a transaction takes: some are stored before it, and the checkpoint with the last', async () => {
    const session = await table.begin('many-links');
    const links = Array.from({ length: 230 }, (_, at) => linkOf('many-links', at));
    const write = {
      session: { ...session, version: 2, seq: 2, headSeq: 2 },
      expectedVersion: 7,
      checkpoint: checkpointOf('many-links', 2),
      links,
    };
    expect(await table.store.commitCheckpoint(write)).toMatchObject({ written: false });
    // Nothing names them yet (C1).
    expect(await table.store.getCheckpoint('many-links', 2)).toBeUndefined();
    expect((await table.store.listLinks('many-links', 'chain')).length).toBeLessThan(links.length - 90);
    expect(await table.store.commitCheckpoint({ ...write, expectedVersion: 1 })).toEqual({ written: true });
    expect(await table.store.listLinks('many-links', 'chain')).toEqual(links);
    expect(await table.store.getCheckpoint('many-links', 2)).toEqual(write.checkpoint);
  });

  test('an upload is found by its key', async () => {
    const upload = { key: 'sessions/s/r/x.bundle', place: { sessionId: 's', chainId: 'c' }, expiresAt: 70 };
    expect(await table.store.getUpload(upload.key)).toBeUndefined();
    await table.store.putUploads([upload]);
    await table.store.putUploads([{ ...upload, expiresAt: 80 }]);
    expect(await table.store.getUpload(upload.key)).toEqual({ ...upload, expiresAt: 80 });
    // More than one request takes, and one of them twice.
    const many = Array.from({ length: 60 }, (_, n) => ({ ...upload, key: `many-${n % 59}`, expiresAt: n }));
    await table.store.putUploads(many);
    for (const one of many.slice(1)) expect(await table.store.getUpload(one.key)).toEqual(one);
    await table.store.putUploads([]);
  });

  test('a checkpoint is prolonged, never shortened, and not brought back', async () => {
    await table.begin('prolong');
    const first = checkpointOf('prolong', 1);
    await table.store.prolongCheckpoint(first, 2000);
    await table.store.prolongCheckpoint(first, 1500);
    await table.store.prolongCheckpoint(checkpointOf('prolong', 7), 1500);
    expect(await table.store.getCheckpoint('prolong', 1)).toMatchObject({ expiresAt: 2000 });
    expect(await table.store.getCheckpoint('prolong', 7)).toBeUndefined();
  });
});

describe('the Sessions table', () => {
  const table = useSessionsTable();

  describe('a tree is whole', () => {
    const beginTwo = async (sessionId: string) => {
      const session = await table.begin(sessionId);
      const moved = { ...session, version: session.version + 1, seq: 2, headSeq: 2 };
      const checkpoint = checkpointOf(sessionId, 2);
      await table.store.commitCheckpoint({ session: moved, expectedVersion: session.version, checkpoint });
      return checkpoint;
    };
    const seqsOf = async (sessionId: string) => (await table.store.listTree(sessionId)).map(({ seq }) => seq);

    test('also when the small item of one that others stand on went before it', async () => {
      await beginTwo('gone');
      const { toolExecutionId } = checkpointOf('gone', 1);
      await table.dynamodb.send(
        new DeleteItemCommand({
          TableName: table.tableName,
          Key: { pk: { S: 'SESSION#gone' }, sk: { S: `TOOL#${toolExecutionId}` } },
        }),
      );
      expect(await seqsOf('gone')).toEqual([1, 2]);
    });

    test('with what a list shows of each', async () => {
      await beginTwo('outlines');
      const outlines = await table.store.listOutlines('outlines');
      const checkpoints = await table.store.listCheckpoints('outlines', { limit: 9 });
      expect(outlines).toEqual(checkpoints.toReversed().map(outlineOf));
    });

    test('also after its checkpoint was prolonged: both live as long', async () => {
      const checkpoint = await beginTwo('long');
      await table.store.prolongCheckpoint(checkpoint, 9_000);
      const { Item } = await table.dynamodb.send(
        new GetItemCommand({
          TableName: table.tableName,
          Key: { pk: { S: 'SESSION#long' }, sk: { S: `TOOL#${checkpoint.toolExecutionId}` } },
        }),
      );
      expect(Item?.['expiresAt']).toEqual({ N: '9000' });
    });
  });

  test('a session that a newer release wrote is refused', async () => {
    await table.begin('newer');
    await table.dynamodb.send(
      new UpdateItemCommand({
        TableName: table.tableName,
        Key: { pk: { S: 'SESSION#newer' }, sk: { S: 'META' } },
        UpdateExpression: 'SET #format = :next',
        ConditionExpression: '#format = :now',
        ExpressionAttributeNames: { '#format': 'format' },
        ExpressionAttributeValues: { ':now': { N: '1' }, ':next': { N: '2' } },
      }),
    );
    await expect(table.store.getSession('newer')).rejects.toMatchObject({
      name: 'ConfigurationError',
      message: expect.stringContaining('SESSION#newer was written by a newer release'),
    });
  });

  test('a write whose answer was lost counts as written, and an equal one of another caller does not', async () => {
    const session = await table.begin('repeat');
    await using proxy = await startFaultProxy({ target: table.url });
    proxy.setPlan([{ at: 1, action: { kind: 'lose-answer' } }]);
    const client = new DynamoDBClient({
      endpoint: proxy.url,
      region: 'us-east-1',
      credentials,
      ...CLIENT_DEFAULTS,
    });
    const store = createSessionStore({ tableName: table.tableName, client });
    const next = { ...session, version: 2 };
    expect(await store.updateSession(next, 1)).toEqual({ written: true });
    expect(proxy.seen).toHaveLength(2);
    expect(await store.updateSession(next, 1)).toMatchObject({ written: false, existing: { version: 2 } });
    client.destroy();
  });

  test('the indexes find checkpoints by id and by message, and nothing else', async () => {
    const session = await table.begin('index');
    const checkpoint = checkpointOf('index', 2, {
      checkpointId: 'cp-index',
      messageId: 'm-index',
      messageOrder: 1,
    });
    const message = { messageId: 'm-index', order: 1, firstSeq: 2, lastSeq: 2, lastId: 'cp-index' };
    const moved = { ...session, version: 2 };
    await table.store.commitCheckpoint({ session: moved, expectedVersion: 1, checkpoint, message });
    const find = async (IndexName: string, name: string, value: string) => {
      const command = new QueryCommand({
        TableName: 'sessions',
        IndexName,
        KeyConditionExpression: `${name} = :value`,
        ExpressionAttributeValues: { ':value': { S: value } },
      });
      return (await table.dynamodb.send(command)).Items?.map(({ sk }) => sk?.S);
    };
    expect(await find('gsi_checkpoint', 'checkpointId', 'cp-index')).toEqual(['CP#00000002']);
    expect(await find('gsi_message', 'messageId', 'm-index')).toEqual(['CP#00000002']);
  });

  test('an item that is not what was written is named, and not read as something else', async () => {
    await table.begin('unreadable');
    await table.store.putLinks([linkOf('unreadable', 0)]);
    const change = (sk: string, UpdateExpression: string, names: Record<string, string>) =>
      table.dynamodb.send(
        new UpdateItemCommand({
          TableName: table.tableName,
          Key: { pk: { S: 'SESSION#unreadable' }, sk: { S: sk } },
          UpdateExpression,
          ExpressionAttributeNames: names,
        }),
      );
    await change('META', 'REMOVE #a', { '#a': 'epoch' });
    await change('LINK#chain#0000#c0', 'REMOVE #a', { '#a': 'bundle' });
    await change('CP#00000001', 'SET #a = #b', { '#a': 'repositories', '#b': 'sandboxId' });
    const { message } = await failing(table.store.getSession('unreadable'), 'ItemUnreadable');
    expect(message).toContain(
      'SESSION#unreadable META in the Sessions table is not what Walkback wrote there (epoch)',
    );
    await failing(table.store.listLinks('unreadable', 'chain'), 'ItemUnreadable');
    await failing(table.store.getCheckpoint('unreadable', 1), 'ItemUnreadable');
  });
});
