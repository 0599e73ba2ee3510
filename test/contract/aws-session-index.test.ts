/** How sessions are found beside their checkpoints, in a real DynamoDB engine: all of them, and nothing else. */
import { DeleteItemCommand, QueryCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { describe, expect, test } from 'vitest';
import type { Session } from '../../core/checkpoint/model.ts';
import type { SessionStore } from '../../core/checkpoint/ports/stores.ts';
import { sealed } from '../../core/shared/cursor.ts';
import { failing } from '../support/fakes/failing.ts';
import { checkpointOf, linkOf, rehydrateOf, rollbackOf } from '../support/session-items.ts';
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

  test('a cursor that the list did not give is refused', async () => {
    const { cursor = '' } = await table.store.listSessions(4);
    const [unsealed = ''] = cursor.split('.');
    expect(unsealed).not.toBe(cursor);
    for (const made of ['x', '', unsealed, `${cursor}x`, sealed('sessions').write({ pk: '', sk: 'META' })]) {
      const { message } = await failing(table.store.listSessions(3, made), 'InvalidInput');
      expect(message).toContain('cursor: ');
    }
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
    const message = { messageId: 'm', order: 1, firstSeq: 2, lastSeq: 2, lastId: 'cp-2' };
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
    expect(await rows()).toHaveLength(1);
  });
});
