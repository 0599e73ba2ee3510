/** The tables of a store of sagas: lists and their pages, what was altered in them, tombstones, and what sessions find there. */
import { DynamoDBClient, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { SAGA_FORMAT } from '../../adapters/aws/item-format.ts';
import { createSagaStore } from '../../adapters/aws/sagas/saga-store.ts';
import { createTombstones } from '../../adapters/aws/sagas/saga-tombstones.ts';
import type { SagasAnswer } from '../../contract/saga-lists.ts';
import { createAdvance } from '../../core/saga/run/advance.ts';
import { createStartSaga } from '../../core/saga/run/start.ts';
import { createListSagas } from '../../core/saga/view/list-sagas.ts';
import { memorySagaStore } from '../../kit/testing/memory-saga-store.ts';
import { virtualClock } from '../../kit/testing/virtual-clock.ts';
import { openSagaTables, SAGA_TABLES_CREDENTIALS } from '../support/saga-tables.ts';
import { shared } from '../support/shared.ts';
import { engine, evaluate, startedHead, tool } from '../support/started-saga.ts';

const opened = shared(openSagaTables);
const dynamo = shared(() => createSagaStore(opened().tables));

test('a version that is stored is the newest, whenever the one who stored it died', async () => {
  const client = new DynamoDBClient({
    region: 'us-east-1',
    endpoint: opened().url,
    credentials: SAGA_TABLES_CREDENTIALS,
    maxAttempts: 1,
  });
  let left = Infinity;
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (!String(commandName).startsWith('Get') && (left -= 1) < 0) throw new Error('died');
        return next(args);
      },
    { step: 'initialize' },
  );
  const dying = createSagaStore({ ...opened().tables, client });
  await dying.putTool({ ...tool, name: 'pointed' });
  left = 1;
  await dying.putTool({ ...tool, name: 'pointed', version: '2' }).catch(() => undefined);
  await dynamo().putTool({ ...tool, name: 'pointed', version: '2' });
  expect((await dynamo().getTool('pointed'))?.version).toBe('2');
  client.destroy();
});

test('what was pinned and altered since is refused: steps and input are held against their hashes', async () => {
  await dynamo().putTool(tool);
  const steps = Array.from({ length: 20 }, (_, n) => ({ id: `s${n}`, tool: 'pay', arguments: { n } }));
  const start = createStartSaga({ store: dynamo(), engine, clock: virtualClock(), evaluate });
  await start({ sagaId: 'pinned', plan: { steps }, input: { amount: 5 }, requestedBy: 'me' });
  const head = await dynamo().getHead('pinned');
  if (head === undefined) throw new Error('no head');
  const { planHash, inputHash } = head;
  const pinned = await Promise.all(
    steps.map(async (_, index) => dynamo().getPinnedStep('pinned', planHash, index)),
  );
  expect(pinned.map(({ id }) => id)).toEqual(steps.map(({ id }) => id));
  const other = pinned.map((step) => ({ ...step, functionName: step.index === 19 ? 'elsewhere' : 'fn' }));
  await dynamo().putPinned({ sagaId: 'pinned', planHash, inputHash, input: { amount: 9999 }, steps: other });
  const broken = { name: 'LedgerBroken' };
  const fresh = createSagaStore(opened().tables);
  await expect(fresh.getPinnedInput('pinned', inputHash)).rejects.toMatchObject(broken);
  await expect(fresh.getPinnedStep('pinned', planHash, 19)).rejects.toMatchObject(broken);
  // What was proved stays as it was proved, and a reader who changes it changes only its own.
  const again = await dynamo().getPinnedStep('pinned', planHash, 19);
  expect(again.id).toBe('s19');
  Object.assign(again, { functionName: 'elsewhere' });
  expect(await dynamo().getPinnedStep('pinned', planHash, 19)).toEqual(pinned[19]);
});

test('a list of all statuses goes from page to page through the index', async () => {
  const head = await startedHead(dynamo(), 'paged');
  const statuses = ['COMPENSATION_FAILED', 'QUEUED', 'COMPLETED'] as const;
  const ids = statuses.flatMap((status) => [1, 2, 3].map((n) => `paged-${status}-${n}`));
  for (const sagaId of ids) {
    const status = statuses.find((one) => sagaId.includes(one)) ?? expect.unreachable(sagaId);
    await dynamo().createSaga({ ...head, sagaId, state: { ...head.state, status } }, []);
  }
  const list = createListSagas({ store: dynamo(), clock: virtualClock() });
  const told: string[] = [];
  let cursor: string | undefined;
  do {
    const page: SagasAnswer = await list({ limit: 2, ...(cursor === undefined ? {} : { cursor }) });
    told.push(...page.sagas.map(({ sagaId }) => sagaId));
    ({ cursor } = page);
  } while (cursor !== undefined);
  expect(told.filter((id) => id.startsWith('paged-'))).toEqual(ids);
  expect(new Set(told).size).toBe(told.length);
});

test('the sagas that somebody started fill pages, however many of others are between them', async () => {
  const head = await startedHead(dynamo(), 'owned');
  const ids = Array.from({ length: 12 }, (_, at) => `owned-${String(at).padStart(2, '0')}`);
  for (const [at, sagaId] of ids.entries()) {
    await dynamo().createSaga({ ...head, sagaId, requestedBy: at % 4 === 3 ? 'owner' : 'other' }, []);
  }
  const list = createListSagas({ store: dynamo(), clock: virtualClock() });
  for (const status of [undefined, head.state.status]) {
    const asked = { requestedBy: 'owner', limit: 2, ...(status === undefined ? {} : { status }) };
    const first = await list(asked);
    expect(first.sagas.map(({ sagaId }) => sagaId)).toEqual(['owned-03', 'owned-07']);
    const { cursor = expect.unreachable() } = first;
    const second = await list({ ...asked, cursor });
    expect(second.sagas.map(({ sagaId }) => sagaId)).toEqual(['owned-11']);
    expect(second).not.toHaveProperty('cursor');
  }
});

test('a long list reads its heads a few at a time', async () => {
  const ids = Array.from({ length: 60 }, (_, index) => `listed-${index}`);
  for (const sagaId of ids) await startedHead(dynamo(), sagaId);
  const flight = { now: 0, most: 0, all: 0 };
  opened().tables.client.middlewareStack.add(
    (next, { commandName }) =>
      async (parameters) => {
        if (commandName !== 'GetItemCommand' && commandName !== 'GetCommand') return next(parameters);
        flight.now += 1;
        flight.all += 1;
        flight.most = Math.max(flight.most, flight.now);
        try {
          return await next(parameters);
        } finally {
          flight.now -= 1;
        }
      },
    { name: 'flight', step: 'finalizeRequest' },
  );
  try {
    const listed = await createListSagas({ store: dynamo(), clock: virtualClock() })({
      status: 'RUNNING',
      limit: 1000,
    });
    const found = listed.sagas.map(({ sagaId }) => sagaId);
    for (const sagaId of ids) expect(found).toContain(sagaId);
    expect(flight.all).toBeGreaterThanOrEqual(60);
    expect(flight.most).toBeLessThanOrEqual(16);
  } finally {
    opened().tables.client.middlewareStack.remove('flight');
  }
});

test('a head that a newer release wrote is refused, and nobody writes over it', async () => {
  const head = await startedHead(dynamo(), 'newer');
  await opened().tables.client.send(
    new UpdateItemCommand({
      TableName: opened().tables.sagasTable,
      Key: { pk: { S: 'SAGA#newer' }, sk: { S: 'HEAD' } },
      UpdateExpression: 'SET #format = :next',
      ExpressionAttributeNames: { '#format': 'format' },
      ExpressionAttributeValues: { ':next': { N: String(SAGA_FORMAT + 1) } },
    }),
  );
  const advance = createAdvance({
    store: dynamo(),
    engine,
    clock: virtualClock(),
    evaluate,
    executionLink: (arn) => arn,
  });
  await expect(advance('newer', 1, { type: 'continue' }, 'arn')).rejects.toMatchObject({
    name: 'ConfigurationError',
    message: expect.stringContaining(
      `SAGA#newer was written by a newer release of Walkback (format ${SAGA_FORMAT + 1}`,
    ),
  });
  expect(await dynamo().listEntries('newer')).toHaveLength(head.seq);
});

test('tombstones stand once they are buried', async () => {
  const tombstones = createTombstones(opened().tables);
  expect(await tombstones.isBuried('k:0')).toBe(false);
  await tombstones.bury('k:0');
  await tombstones.bury('k:0');
  expect(await tombstones.isBuried('k:0')).toBe(true);
});

test('an attempt is claimed once, also by two at once, and the next attempt by itself; a tombstone is none', async () => {
  const tombstones = createTombstones(opened().tables);
  const claim = (attempt: number) => tombstones.claim?.('k:claimed', attempt);
  const both = await Promise.all([claim(1), claim(1)]);
  expect(both.map(String).toSorted()).toEqual(['false', 'true']);
  expect(await claim(1)).toBe(false);
  expect(await claim(2)).toBe(true);
  expect(await tombstones.isBuried('k:claimed')).toBe(false);
});

test('a session finds its sagas in the order of their start, whichever store keeps them', async () => {
  const memory = memorySagaStore().store;
  for (const store of [dynamo(), memory]) {
    const head = await startedHead(store, 'of-nobody');
    const of = (sagaId: string, sessionId: string, createdAt: string) => ({
      ...head,
      sagaId,
      sessionId,
      createdAt,
    });
    await store.createSaga(of('second', 'session', '2026-01-02T00:00:00.000Z'), []);
    await store.createSaga(of('first', 'session', '2026-01-01T00:00:00.000Z'), []);
    await store.createSaga(of('other', 'session2', '2026-01-01T00:00:00.000Z'), []);
    expect(await store.listBySession('session')).toEqual([
      { sagaId: 'first', createdAt: '2026-01-01T00:00:00.000Z' },
      { sagaId: 'second', createdAt: '2026-01-02T00:00:00.000Z' },
    ]);
    expect(await store.listBySession('nobody')).toEqual([]);
  }
});

test('nothing is written for an epoch in which the session is not, by the transaction itself', async () => {
  await opened().tables.client.send(
    new PutItemCommand({
      TableName: opened().sessionsTable,
      Item: { pk: { S: 'SESSION#fenced' }, sk: { S: 'META' }, epoch: { N: '2' } },
    }),
  );
  const fencing = createSagaStore({ ...opened().tables, sessionsTable: opened().sessionsTable });
  const memory = memorySagaStore({
    inEpoch: ({ sessionId, epoch }) => sessionId === 'fenced' && epoch === 2,
  }).store;
  for (const store of [fencing, memory]) {
    const head = { ...(await startedHead(store, 'unfenced')), sagaId: 'fenced' };
    const of = (at: number) => ({ sessionId: 'fenced', epoch: at });
    expect(await store.createSaga(head, [], [], of(1))).toEqual({ written: false });
    expect(await store.createSaga(head, [], [], { sessionId: 'nobody', epoch: 2 })).toEqual({
      written: false,
    });
    expect(await store.getHead('fenced')).toBeUndefined();
    expect(await store.listBySession('fenced')).toEqual([]);
    expect((await store.createSaga({ ...head, sagaId: 'fenced-2' }, [], [], of(2))).written).toBe(true);
    const next = { ...head, sagaId: 'fenced-2', version: head.version + 1 };
    const refused = await store.append(next, head.version, [], { fence: of(3) });
    expect(refused).toMatchObject({ written: false, existing: { version: head.version } });
    const beside = { fence: of(2), session: { sessionId: 'other-fenced', createdAt: head.createdAt } };
    expect((await store.append(next, head.version, [], beside)).written).toBe(true);
    expect(await store.listBySession('other-fenced')).toMatchObject([{ sagaId: 'fenced-2' }]);
  }
  // A function to which the table is not named says so, and does not write unfenced.
  const head = { ...(await startedHead(memory, 'unfenced-3')), sagaId: 'fenced-3' };
  await expect(dynamo().createSaga(head, [], [], { sessionId: 'fenced', epoch: 2 })).rejects.toMatchObject({
    name: 'ConfigurationError',
  });
});

test('the record of a rewind is created once, read back, and replaced when it is through', async () => {
  const record = {
    sessionId: 'session',
    requestId: 'rw',
    requestHash: 'a'.repeat(64),
    checkpointId: 'cp-00000001-12345678',
    epoch: 1,
    by: 'rita',
    residue: ['0123456789ab'],
    at: '2026-01-01T00:00:00.000Z',
  };
  for (const store of [dynamo(), memorySagaStore().store]) {
    expect(await store.getRewind('session', 'rw')).toBeUndefined();
    expect(await store.createRewind(record)).toEqual({ written: true });
    expect(await store.createRewind({ ...record, by: 'ada' })).toEqual({ written: false, existing: record });
    const done = { ...record, guidance: 'Less.', doneAt: '2026-01-01T00:01:00.000Z' };
    await store.finishRewind(done);
    expect(await store.getRewind('session', 'rw')).toEqual(done);
    expect(await store.getRewind('session2', 'rw')).toBeUndefined();
  }
});
