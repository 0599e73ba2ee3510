/** How sessions are found beside their checkpoints, in a real DynamoDB engine: all of them, of any release, and nothing else. */
import { DeleteItemCommand, PutItemCommand, QueryCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, test } from 'vitest';
import type { Session } from '../../core/checkpoint/model.ts';
import type { SessionStore } from '../../core/checkpoint/ports/stores.ts';
import { failing } from '../support/fakes/failing.ts';
import { checkpointOf, linkOf, rehydrateOf, rollbackOf, sessionOf } from '../support/session-items.ts';
import { useSessionsTable } from '../support/sessions-table.ts';

type Lists = Pick<SessionStore, 'listSessions'>;

const pagesOf = async (store: Lists, limit: number, from?: string): Promise<Session[][]> => {
  const pages: Session[][] = [];
  let cursor = from;
  do {
    const page = await store.listSessions(limit, cursor);
    expect(page.sessions.length).toBeLessThanOrEqual(limit);
    pages.push(page.sessions);
    ({ cursor } = page);
  } while (cursor !== undefined);
  return pages;
};

const idsOf = async (store: Lists, limit: number, from?: string): Promise<string[]> =>
  (await pagesOf(store, limit, from))
    .flat()
    .map(({ sessionId }) => sessionId)
    .toSorted();

const named = (count: number): string[] => Array.from({ length: count }, (_, at) => `page-${at}`).toSorted();

describe('a table with sessions that began in the same moment with the same request', () => {
  const table = useSessionsTable();

  test('each is listed once, however long the pages are, and as it is', async () => {
    for (const id of named(10)) await table.begin(id);
    for (const limit of [1, 3, 10, 200]) expect(await idsOf(table.store, limit)).toEqual(named(10));
    const [[one] = []] = await pagesOf(table.store, 1);
    expect(one).toEqual(await table.store.getSession(one?.sessionId ?? ''));
    expect(one).not.toHaveProperty('pk');
  });

  test('a cursor of a release that read the whole table begins again, and misses none', async () => {
    const at = Buffer.from(JSON.stringify({ pk: 'SESSION#page-3', sk: 'META' })).toString('base64url');
    for (const cursor of ['after-page-3', `at-${at}`])
      expect(await idsOf(table.store, 3, cursor)).toEqual(named(10));
    const strange = Buffer.from(JSON.stringify({ pk: '', sk: 'META' })).toString('base64url');
    for (const cursor of ['x', 'in-x', `in-${strange}`, `in-${at}`]) {
      const { message } = await failing(table.store.listSessions(3, cursor), 'InvalidInput');
      expect(message).toContain('cursor: ');
    }
  });

  test('a cursor of a release without seals goes on, when what it names is there', async () => {
    const { sessions, cursor = '' } = await table.store.listSessions(4);
    const [older = ''] = cursor.split('.');
    expect(older).not.toBe(cursor);
    const rest = await idsOf(table.store, 4, cursor);
    expect(await idsOf(table.store, 4, older)).toEqual(rest);
    expect([...rest, ...sessions.map(({ sessionId }) => sessionId)].toSorted()).toEqual(named(10));
    const row = JSON.parse(Buffer.from(older.replace('in-', ''), 'base64url').toString());
    const other = Buffer.from(JSON.stringify({ ...row, pk: 'SESSION#nobody' })).toString('base64url');
    await failing(table.store.listSessions(4, `in-${other}`), 'InvalidInput');
    await failing(table.store.listSessions(4, 'after-nobody'), 'InvalidInput');
  });

  test('one that expired meanwhile is left out, also when the next page was to begin behind it', async () => {
    const { sessions, cursor } = await table.store.listSessions(4);
    const gone = sessions.at(-1)?.sessionId ?? '';
    const Key = marshall({ pk: `SESSION#${gone}`, sk: 'META' });
    await table.dynamodb.send(new DeleteItemCommand({ TableName: table.tableName, Key }));
    const rest = await idsOf(table.store, 4, cursor);
    expect(rest).toHaveLength(6);
    expect(rest).not.toContain(gone);
    expect(await idsOf(table.store, 4)).toEqual(named(10).filter((id) => id !== gone));
  });
});

describe('a table with everything else that a session has', () => {
  const table = useSessionsTable();

  const rows = async () => {
    const command = new ScanCommand({ TableName: table.tableName, IndexName: 'gsi_session' });
    return (await table.dynamodb.send(command)).Items ?? [];
  };

  test('the index has the session alone, the same after a checkpoint, a rollback and a rehydrate', async () => {
    const session = await table.begin('whole');
    const before = await rows();
    expect(before.map((row) => [row['pk']?.S, row['sk']?.S])).toEqual([['SESSION#whole', 'META']]);
    const moved = { ...session, version: 2, seq: 2, headSeq: 2, updatedAt: '2026-02-02T00:00:00.000Z' };
    const message = { messageId: 'm', order: 1, firstSeq: 2, lastSeq: 2 };
    const checkpoint = checkpointOf('whole', 2, { messageId: 'm', messageOrder: 1 });
    await table.store.commitCheckpoint({ session: moved, expectedVersion: 1, checkpoint, message });
    await table.store.putLinks([linkOf('whole', 0)]);
    await table.store.beginRollback(rollbackOf('whole', 'back'), {
      session: { ...moved, version: 3, epoch: 2 },
      expectedVersion: 2,
    });
    await table.store.createRehydrate(rehydrateOf('whole', 'copy'));
    const all = { TableName: table.tableName, Select: 'COUNT' as const };
    expect((await table.dynamodb.send(new ScanCommand(all))).Count).toBeGreaterThanOrEqual(9);
    expect(await rows()).toEqual(before);
    expect(await pagesOf(table.store, 10)).toEqual([[expect.objectContaining({ version: 3, seq: 2 })]]);
  });

  test('a session as the first release wrote it is listed before anything writes it again', async () => {
    const { epoch, ...rest } = sessionOf('first', { metadata: { agent: 'old' } });
    const item = JSON.parse(JSON.stringify({ pk: 'SESSION#first', sk: 'META', epoch, ...rest }));
    await table.dynamodb.send(new PutItemCommand({ TableName: table.tableName, Item: marshall(item) }));
    expect(await idsOf(table.store, 1)).toEqual(['first', 'whole']);
  });

  test('bases and uploads are no sessions', async () => {
    const base = { key: 'k', sizeBytes: 1, sha256: 'x', name: 'b', owner: 'o', commit: 'c' };
    await table.store.putBase({ ...base, shallow: false, partial: false, expiresAt: 1 });
    await table.store.putUploads([{ key: 'k', place: { sessionId: 'whole', chainId: 'c' }, expiresAt: 1 }]);
    const query = new QueryCommand({
      TableName: table.tableName,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': { S: 'BASE#o#b' } },
    });
    expect((await table.dynamodb.send(query)).Count).toBe(1);
    expect(await rows()).toHaveLength(2);
  });
});
