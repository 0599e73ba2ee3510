/** The Sessions table against a real DynamoDB engine, and the answers only a broken one gives. */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  BatchWriteItemCommand,
  ConditionalCheckFailedException,
  CreateTableCommand,
  DynamoDBClient,
  QueryCommand as RawQueryCommand,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb';
import {
  BatchWriteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
} from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { mockClient } from 'aws-sdk-client-mock';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkpointItem } from '../../adapters/aws/session-items.ts';
import { createSessionStore } from '../../adapters/aws/session-store.ts';
import { createListSessions } from '../../core/checkpoint/list-sessions.ts';
import type {
  ChainLink,
  Checkpoint,
  RehydrateJournal,
  RollbackJournal,
  Session,
  StoredBase,
} from '../../core/checkpoint/model.ts';
import { rollbackResult } from '../../core/checkpoint/rollback-result.ts';
import { createTimeline } from '../../core/checkpoint/timeline.ts';
import type { SessionStore } from '../../core/ports.ts';
import { startDynamoDb } from '../../local/dynamodb/server.ts';
import { failing } from '../support/fakes/failing.ts';

const AT = '2026-01-01T00:00:00.000Z';
const text = (AttributeName: string) => ({ AttributeName, AttributeType: 'S' as const });

const sessionOf = (sessionId: string, more: Partial<Session> = {}): Session => ({
  sessionId,
  epoch: 1,
  version: 1,
  seq: 1,
  headSeq: 1,
  messageCount: 0,
  sandboxId: 'sbx',
  projectsRoot: '/projects',
  template: undefined,
  include: [],
  exclude: [],
  maxFileBytes: 1,
  retentionDays: 30,
  metadata: {},
  status: 'active',
  requestHash: 'h',
  createdAt: AT,
  updatedAt: AT,
  expiresAt: 1000,
  ...more,
});

const checkpointOf = (sessionId: string, seq: number, more: Partial<Checkpoint> = {}): Checkpoint => ({
  sessionId,
  checkpointId: `cp-${seq}`,
  seq,
  parentSeq: seq === 1 ? null : seq - 1,
  epoch: 1,
  messageId: null,
  messageOrder: null,
  toolExecutionId: `t${seq}`,
  reason: 'before-tool',
  complete: true,
  repositories: [{ path: 'app', state: 'captured', changed: true, bundleBytes: 3 }],
  failures: [],
  skipped: [],
  sandboxId: 'sbx',
  detached: false,
  createdAt: AT,
  expiresAt: 1000,
  ...more,
});

const rollbackOf = (sessionId: string, requestId: string): RollbackJournal => ({
  sessionId,
  requestId,
  requestHash: 'h',
  phase: 'started',
  epoch: 2,
  sandboxId: 'sbx',
  detached: false,
  filesOnly: false,
  allowPartial: false,
  targetSeq: 1,
  captures: 0,
  startedAt: AT,
  updatedAt: AT,
  expiresAt: 1000,
});

const rehydrateOf = (sessionId: string, requestId: string): RehydrateJournal => ({
  sessionId,
  requestId,
  requestHash: 'h',
  phase: 'started',
  mode: 'review',
  targetSeq: 1,
  attempt: 1,
  sandboxTimeoutMs: 1,
  startedAt: AT,
  updatedAt: AT,
  expiresAt: 1000,
});

const linkOf = (sessionId: string, at: number): ChainLink => ({
  sessionId,
  repositoryPath: 'app',
  chainId: 'chain',
  link: at,
  commit: `c${at}`,
  previous: at === 0 ? null : `c${at - 1}`,
  bundle: { key: `k${at}`, sizeBytes: at, sha256: 'x' },
  expiresAt: 1000,
});

const credentials = { accessKeyId: 'any', secretAccessKey: 'any' };

const client = (endpoint: string): DynamoDBClient =>
  new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials,
    maxAttempts: 1,
  });

const index = (IndexName: string, AttributeName: string) => ({
  IndexName,
  KeySchema: [{ AttributeName, KeyType: 'HASH' as const }],
  Projection: { ProjectionType: 'KEYS_ONLY' as const },
});

describe('the Sessions table', () => {
  let store: SessionStore;
  let dynamodb: DynamoDBClient;
  const disposal = new AsyncDisposableStack();
  beforeAll(async () => {
    const directory = disposal.use(await mkdtempDisposable(join(tmpdir(), 'walkback-store-')));
    const server = await startDynamoDb({ dataDir: directory.path, credentials });
    disposal.defer(() => server.close());
    dynamodb = client(server.url);
    disposal.defer(() => dynamodb.destroy());
    await dynamodb.send(
      new CreateTableCommand({
        TableName: 'sessions',
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [text('pk'), text('sk'), text('checkpointId'), text('messageId')],
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
        GlobalSecondaryIndexes: [index('gsi_checkpoint', 'checkpointId'), index('gsi_message', 'messageId')],
      }),
    );
    store = createSessionStore({ tableName: 'sessions', client: dynamodb });
  });
  afterAll(() => disposal.disposeAsync());

  /** A stored session with its baseline. */
  const begin = async (sessionId: string): Promise<Session> => {
    const session = sessionOf(sessionId);
    expect(await store.createSession(session, checkpointOf(sessionId, 1))).toEqual({ written: true });
    return session;
  };

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
      const command = new RawQueryCommand({
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

  /** A checkpoint of so many repositories. */
  const wide = (sessionId: string, seq: number, count: number, pathLength = 200): Checkpoint =>
    checkpointOf(sessionId, seq, {
      repositories: Array.from({ length: count }, (_, at) => ({
        path: `repository-${at}`.padEnd(pathLength, 'x'),
        state: 'captured' as const,
        changed: false,
        bundleBytes: 0,
      })),
    });

  test('the largest checkpoint that is let through fits an item; a larger one says so and leaves nothing', async () => {
    const session = await begin('large');
    const commit = (count: number) =>
      store.commitCheckpoint({
        session: { ...session, version: 2, seq: 2, headSeq: 2 },
        expectedVersion: 1,
        checkpoint: wide('large', 2, count),
        message: { messageId: 'm-large', order: 1, firstSeq: 2, lastSeq: 2 },
      });
    const error = await failing(commit(2000), 'CaptureFailed');
    expect(error.message).toContain('2000 repositories');
    expect(await store.getSession('large')).toMatchObject({ version: 1, seq: 1 });
    expect(await store.getCheckpoint('large', 2)).toBeUndefined();
    expect(await store.findCheckpointByTool('large', 't2')).toBeUndefined();
    expect(await store.findMessage('large', 'm-large')).toBeUndefined();

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
    expect((await store.getCheckpoint('large', 2))?.repositories).toHaveLength(fits);
  });

  test('the timeline of 300 checkpoints, some as wide as an item, is answered page by page', async () => {
    const COUNT = 300;
    const WIDE = 24;
    const put = async (checkpoints: Checkpoint[]) => {
      const requests = checkpoints.map((one) => ({
        PutRequest: { Item: marshall(checkpointItem(one), { removeUndefinedValues: true }) },
      }));
      await dynamodb.send(new BatchWriteItemCommand({ RequestItems: { sessions: requests } }));
    };
    const session = sessionOf('many', { seq: COUNT, headSeq: COUNT });
    await store.createSession(session, checkpointOf('many', 1));
    // The newest are wide: 6.5 MB together.
    for (let from = 2; from <= COUNT; from += 25) {
      const seqs = Array.from({ length: Math.min(25, COUNT - from + 1) }, (_, at) => from + at);
      await put(
        seqs.map((seq) => (seq > COUNT - WIDE ? wide('many', seq, 70, 4000) : checkpointOf('many', seq))),
      );
    }
    const timeline = createTimeline({ store });
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
    const session = await begin('messages');
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
          tree: null,
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
    expect(await store.beginRollback(journal, moved)).toEqual({ written: true });
    expect((await store.getRollback('messages', 'r'))?.result).toEqual(result);
  });

  test('sessions as large as they come are listed page by page; a larger one is refused', async () => {
    const metadata = Object.fromEntries(
      Array.from({ length: 50 }, (_, at) => [`key-${at}`, 'x'.repeat(1024)]),
    );
    const include = Array.from({ length: 200 }, () => 'y'.repeat(512));
    const ids = Array.from({ length: 12 }, (_, at) => `bulky-${at}`);
    for (const id of ids) {
      await store.createSession(sessionOf(id, { metadata, include, exclude: include }), checkpointOf(id, 1));
    }
    const listed: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await createListSessions({ store })({ limit: 200, ...(cursor && { cursor }) });
      expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(2_000_000);
      listed.push(...page.sessions.map(({ sessionId }) => sessionId));
      ({ cursor } = page);
    } while (cursor !== undefined);
    expect(listed.filter((id) => id.startsWith('bulky-')).sort()).toEqual(ids.toSorted());
    expect(new Set(listed).size).toBe(listed.length);

    const wider = sessionOf('bulkier', { include: include.map(() => 'é'.repeat(512)), exclude: include });
    const full = { ...wider, metadata: { ...metadata, more: 'z'.repeat(50_000) } };
    await failing(store.createSession(full, checkpointOf('bulkier', 1)), 'InvalidInput');
    expect(await store.getSession('bulkier')).toBeUndefined();
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

  test('a rollback begins once, ends once, and moves the session with it', async () => {
    const session = await begin('rollback');
    const journal = rollbackOf('rollback', 'r1');
    const busy = { kind: 'rollback', requestId: 'r1', untilMs: 5 } as const;
    const begun = { session: { ...session, version: 2, epoch: 2, busy }, expectedVersion: 1 };
    expect(await store.beginRollback(journal, begun)).toEqual({ written: true });
    expect(await store.beginRollback(journal, { ...begun, expectedVersion: 2 })).toMatchObject({
      written: false,
      existing: { requestId: 'r1' },
    });
    expect(await store.getSession('rollback')).toMatchObject({ busy, epoch: 2 });
    const done: RollbackJournal = { ...journal, phase: 'done' };
    const stale = { session: { ...session, version: 3 }, expectedVersion: 1 };
    expect(await store.endRollback(done, stale)).toMatchObject({ written: false });
    expect(await store.getRollback('rollback', 'r1')).toMatchObject({ phase: 'started' });
    const ended = { session: { ...session, version: 3, epoch: 2, busy: undefined }, expectedVersion: 2 };
    expect(await store.endRollback(done, ended)).toEqual({ written: true });
    expect((await store.getSession('rollback'))?.busy).toBeUndefined();
    const again = { session: { ...session, version: 4 }, expectedVersion: 3 };
    expect(await store.endRollback({ ...done, phase: 'failed' }, again)).toMatchObject({ written: false });
  });

  test('a journal that ended takes no more captures', async () => {
    const session = await begin('ended');
    const journal = rollbackOf('ended', 'r1');
    await store.beginRollback(journal, { session: { ...session, version: 2 }, expectedVersion: 1 });
    await store.endRollback(
      { ...journal, phase: 'failed' },
      { session: { ...session, version: 3 }, expectedVersion: 2 },
    );
    const late = await store.commitCheckpoint({
      session: { ...session, version: 4 },
      expectedVersion: 3,
      checkpoint: checkpointOf('ended', 2),
      journal: { ...journal, phase: 'captured' },
    });
    expect(late.written).toBe(false);
    expect(await store.getCheckpoint('ended', 2)).toBeUndefined();
  });

  test('a rehydrate is fenced by its attempt, and makes its copy once', async () => {
    await begin('rehydrate');
    const journal = rehydrateOf('rehydrate', 'h1');
    expect(await store.createRehydrate(journal)).toEqual({ written: true });
    const other = { ...journal, requestHash: 'other' };
    expect(await store.createRehydrate(other)).toMatchObject({
      written: false,
      existing: { requestHash: 'h' },
    });
    const taken = { ...journal, attempt: 2 };
    expect(await store.moveRehydrate(taken, 1)).toEqual({ written: true });
    expect(await store.moveRehydrate({ ...journal, phase: 'created' }, 1)).toMatchObject({ written: false });
    const copy = { sessionId: 'rehydrate', sandboxId: 'copy', headSeq: 1, version: 1, expiresAt: 9 };
    const done: RehydrateJournal = { ...taken, phase: 'done' };
    expect(await store.moveRehydrate(done, 2, { copy })).toEqual({ written: true });
    expect(await store.getCopy('rehydrate', 'copy')).toEqual(copy);
    expect(await store.moveRehydrate(taken, 2)).toMatchObject({
      written: false,
      existing: { phase: 'done' },
    });
    const moved = { ...copy, headSeq: 2, version: 2 };
    expect(await store.updateCopy(moved, 1)).toEqual({ written: true });
    expect(await store.updateCopy({ ...copy, headSeq: 7, version: 2 }, 1)).toMatchObject({
      written: false,
      existing: { headSeq: 2 },
    });
  });

  test('sessions are listed page by page', async () => {
    const all = new Set<string>();
    let cursor: string | undefined;
    do {
      const page = await store.listSessions(3, cursor);
      expect(page.sessions.length).toBeLessThanOrEqual(3);
      for (const { sessionId } of page.sessions) all.add(sessionId);
      ({ cursor } = page);
    } while (cursor !== undefined);
    expect([...all]).toEqual(expect.arrayContaining(['create', 'move', 'commit', 'rehydrate']));
    await failing(store.listSessions(3, 'x'), 'InvalidInput');
  });
});

describe('what leaves, and what comes back', () => {
  const mocked = () => {
    const mock = mockClient(DynamoDBDocumentClient);
    const store = createSessionStore({ tableName: 'sessions', client: client('http://127.0.0.1:9') });
    return { mock, store };
  };
  const cancelled = (...codes: string[]) =>
    new TransactionCanceledException({
      $metadata: { httpStatusCode: 400 },
      message: 'cancelled',
      CancellationReasons: codes.map((Code) => ({ Code })),
    });
  const serviceError = (name: string, httpStatusCode?: number) =>
    Object.assign(new Error(name), { name, $metadata: { httpStatusCode } });

  test('every read is consistent', async () => {
    const { mock, store } = mocked();
    mock.on(GetCommand).resolves({}).on(QueryCommand).resolves({});
    await store.getSession('s');
    await store.listLinks('s', 'c');
    for (const call of mock.calls()) expect(call.args[0].input).toMatchObject({ ConsistentRead: true });
  });

  test('the transaction of a checkpoint names its conditions', async () => {
    const { mock, store } = mocked();
    mock.on(TransactWriteCommand).resolves({});
    await store.commitCheckpoint({
      session: sessionOf('s'),
      expectedVersion: 7,
      checkpoint: checkpointOf('s', 2),
    });
    const input = mock.commandCalls(TransactWriteCommand)[0]?.args[0].input;
    const puts = input?.TransactItems?.map(({ Put }) => Put);
    expect(puts?.map((put) => [put?.Item?.sk, put?.ConditionExpression])).toEqual([
      ['META', '#version = :expectedVersion'],
      ['CP#00000002', 'attribute_not_exists(pk)'],
      ['TOOL#t2', 'attribute_not_exists(pk)'],
    ]);
    expect(puts?.every((put) => put?.ReturnValuesOnConditionCheckFailure === 'ALL_OLD')).toBe(true);
    // An index key must not be null: a checkpoint without message has no such attribute.
    expect(puts?.[1]?.Item).not.toHaveProperty('messageId');
  });

  test('a transaction that only collided is tried again', async () => {
    const { mock, store } = mocked();
    mock.on(TransactWriteCommand).rejectsOnce(cancelled('TransactionConflict', 'None')).resolves({});
    const write = { session: sessionOf('s'), expectedVersion: 1, checkpoint: checkpointOf('s', 2) };
    expect(await store.commitCheckpoint(write)).toEqual({ written: true });
    expect(mock.commandCalls(TransactWriteCommand)).toHaveLength(2);
  });

  test('a put that met its own earlier try is written', async () => {
    const { mock, store } = mocked();
    const session = sessionOf('s', { version: 2 });
    const Item = marshall({ pk: 'SESSION#s', sk: 'META', ...session }, { removeUndefinedValues: true });
    const refused = new ConditionalCheckFailedException({ $metadata: {}, message: 'refused', Item });
    mock.on(PutCommand).rejects(refused);
    expect(await store.updateSession(session, 1)).toEqual({ written: true });
    expect(await store.updateSession({ ...session, seq: 5 }, 1)).toMatchObject({ written: false });
  });

  test('links the service left over are sent again', async () => {
    const { mock, store } = mocked();
    const Item = { pk: 'SESSION#s', sk: 'LINK#left' };
    mock
      .on(BatchWriteCommand)
      .resolvesOnce({ UnprocessedItems: { sessions: [{ PutRequest: { Item } }] } })
      .resolves({});
    await store.putLinks(Array.from({ length: 30 }, (_, at) => linkOf('s', at)));
    const sizes = mock
      .commandCalls(BatchWriteCommand)
      .map(({ args }) => args[0].input.RequestItems?.sessions?.length);
    expect(sizes).toEqual([25, 6]);
  });

  test.each([
    ['ProvisionedThroughputExceededException', 400, 'Throttled', true],
    ['ThrottlingException', 400, 'Throttled', true],
    ['InternalServerError', 500, 'StorageUnavailable', true],
    ['TimeoutError', undefined, 'StorageUnavailable', true],
    ['ResourceNotFoundException', 400, 'ConfigurationError', false],
    ['AccessDeniedException', 400, 'ConfigurationError', false],
    ['ValidationException', 400, 'InternalError', false],
  ] as const)('%s is %s %s', async (name, status, expected, retryable) => {
    const { mock, store } = mocked();
    mock.onAnyCommand().rejects(serviceError(name, status));
    const error = await failing(store.getSession('s'), expected);
    expect(error.retryable).toBe(retryable);
    expect(error.cause).toBeInstanceOf(Error);
  });
});
