import { randomUUID } from 'node:crypto';
import { DynamoDBClient, PutItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SAGA_FORMAT } from '../../adapters/aws/item-format.ts';
import { createSagaStore } from '../../adapters/aws/sagas/saga-store.ts';
import { createTombstones } from '../../adapters/aws/sagas/saga-tombstones.ts';
import { createEvaluator } from '../../adapters/jsonata/evaluator.ts';
import type { SagasAnswer } from '../../contract/saga-answers.ts';
import { fold } from '../../core/saga/decide/fold.ts';
import { findChainBreak } from '../../core/saga/entries/hash-chain.ts';
import type { SagaEngine, SagaStore } from '../../core/saga/ports.ts';
import { createAdvance } from '../../core/saga/run/advance.ts';
import { eventOf } from '../../core/saga/run/engine-protocol.ts';
import { createStartSaga } from '../../core/saga/run/start.ts';
import { createListSagas } from '../../core/saga/view/list-sagas.ts';
import { memorySagaStore } from '../../kit/testing/memory-saga-store.ts';
import { virtualClock } from '../../kit/testing/virtual-clock.ts';
import { openSagaTables, SAGA_TABLES_CREDENTIALS } from '../support/saga-tables.ts';
import { scriptedTool } from '../support/scripted-saga.ts';

let opened: Awaited<ReturnType<typeof openSagaTables>>;
let dynamo: SagaStore;
let tables: typeof opened.tables;
let url: string;

beforeAll(async () => {
  opened = await openSagaTables();
  ({ tables, url } = opened);
  dynamo = createSagaStore(tables);
});
afterAll(() => opened.close());

const engine: SagaEngine = {
  start: async () => 'started',
  look: async () => 'running',
  wake: async () => true,
};
const evaluate = createEvaluator();

const tool = scriptedTool('pay', 'compensatable');

const startedHead = async (store: SagaStore, sagaId: string) => {
  await store.putTool(tool);
  const plan = { steps: [{ id: 's', tool: 'pay', arguments: {} }] };
  const start = createStartSaga({ store, engine, clock: virtualClock(), evaluate });
  await start({ sagaId, plan, input: {}, requestedBy: 'me' });
  const head = await store.getHead(sagaId);
  if (head === undefined) throw new Error('no head');
  return head;
};

describe.each([
  { name: 'DynamoDB', open: () => dynamo },
  { name: 'the fake of the tests', open: () => memorySagaStore().store },
])('a saga store: $name', ({ open }) => {
  test('two Advances at once: one writes, both answer the same, the chain holds (S9)', async () => {
    const store = open();
    const clock = virtualClock();
    await store.putTool(tool);
    const plan = {
      steps: Array.from({ length: 12 }, (_, n) => ({ id: `s${n}`, tool: 'pay', arguments: { n } })),
    };
    await createStartSaga({ store, engine, clock, evaluate })({
      sagaId: 'race',
      plan,
      input: {},
      requestedBy: 'me',
    });
    const advance = createAdvance({ store, engine, clock, evaluate, executionLink: (arn) => arn });
    const begun = await Promise.all([1, 2, 3].map(() => advance('race', 1, { type: 'continue' }, 'arn')));
    expect(new Set(begun.map((one) => JSON.stringify(one))).size).toBe(1);
    const [first] = begun;
    if (first?.action !== 'INVOKE') throw new Error('nothing to invoke');
    const outcome = {
      outcome: 'committed' as const,
      result: { n: 0, text: 'ü', big: 9_007_199_254_740_991 },
      externalRef: 'ref-0',
    };
    const event = { type: 'outcome' as const, operation: first.operation, outcome };
    const moved = await Promise.all([1, 2, 3].map(() => advance('race', 1, event, 'arn')));
    expect(new Set(moved.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(moved[0]).toMatchObject({ action: 'INVOKE', payload: { step: 's1', arguments: { n: 1 } } });

    const head = await store.getHead('race');
    const entries = await store.listEntries('race');
    if (head === undefined) throw new Error('no head');
    expect(entries.map(({ direction, status }) => `${direction} ${status}`)).toEqual([
      'saga started',
      'forward started',
      'forward committed',
      'forward started',
    ]);
    expect(fold(entries)).toEqual(head.state);
    expect(findChainBreak(entries, head)).toBeUndefined();
    expect(await store.getEntry('race', 2)).toEqual(entries[2]);
    expect((await store.getPinnedStep('race', head.planHash, 11)).id).toBe('s11');
    expect(await store.getPinnedInput('race', head.inputHash)).toEqual({});
    expect((await store.listHeadsByStatus('RUNNING', 10)).items.map(({ sagaId }) => sagaId)).toContain(
      'race',
    );
    expect((await store.listEntriesByExternalRef('ref-0', 10)).items).toEqual([entries[2]]);
    const day = clock.now().toISOString().slice(0, 10);
    const outcomes = (await store.listEntriesByDay(day, 10)).items.filter(
      (entry) => entry.direction === 'forward',
    );
    expect(outcomes).toEqual([entries[2]]);
  });

  test('lists sagas by status from the index alone, longest in it first, with the end of their waits', async () => {
    const store = open();
    const head = await startedHead(store, 'model');
    for (const n of [3, 1, 2]) {
      const state = {
        ...head.state,
        status: 'AWAITING' as const,
        wait: { kind: 'approval' as const, step: 0, untilMs: 1_000 * n, argumentsHash: head.planHash },
      };
      const statusSince = `2026-01-0${n}T00:00:00.000Z`;
      const waiting = { ...head, sagaId: `waits-${n}`, state, statusSince };
      expect(await store.createSaga(waiting, [])).toEqual({ written: true });
      expect(await store.getHead(waiting.sagaId)).toEqual(waiting);
    }
    const seen: unknown[] = [];
    let cursor: string | undefined;
    do {
      const page = await store.listByStatus('AWAITING', 2, cursor);
      seen.push(...page.items);
      cursor = page.cursor;
    } while (cursor !== undefined);
    const since = '2026-01-02T00:00:00.000Z';
    const later = await store.listByStatus('AWAITING', 1, undefined, since);
    expect(later.items).toEqual([seen[1]]);
    expect((await store.listByStatus('AWAITING', 1, later.cursor, since)).items).toEqual([seen[2]]);
    expect((await store.getHeads(['waits-2', 'nobody', 'waits-1'])).map(({ sagaId }) => sagaId)).toEqual([
      'waits-2',
      'waits-1',
    ]);
    const { cursor: given = '' } = await store.listByStatus('AWAITING', 2);
    for (const made of ['', 'x', '0', `0${given}`, `${given}x`, Buffer.from('{}').toString('base64url')]) {
      const asked = store.listByStatus('AWAITING', 2, made);
      await expect(asked, made).rejects.toMatchObject({ name: 'InvalidInput' });
    }
    expect(seen).toEqual(
      [1, 2, 3].map((n) => ({
        sagaId: `waits-${n}`,
        statusSince: `2026-01-0${n}T00:00:00.000Z`,
        waitUntilMs: 1_000 * n,
      })),
    );
    expect((await store.listByStatus('RUNNING', 100)).items).toContainEqual({
      sagaId: 'model',
      statusSince: head.statusSince,
      waitUntilMs: null,
    });
  });

  test.each([
    {
      what: 'no reference',
      payload: { outcome: 'committed', result: {}, externalRef: '' },
      status: 'committed',
    },
    {
      what: 'half characters',
      payload: { outcome: 'committed', result: { note: '\ud800' }, externalRef: 'ref-\ud83d' },
      status: 'committed',
    },
    {
      what: 'long texts',
      payload: {
        outcome: 'committed',
        result: {},
        externalRef: `${'x'.repeat(499)}😀`,
        residue: 'r'.repeat(5000),
      },
      status: 'committed',
    },
    {
      what: 'a long message',
      payload: {
        outcome: 'rejected',
        retryable: false,
        error: { name: 'Acme: Refused', message: `${'m'.repeat(999)}😀${'m'.repeat(4000)}` },
      },
      status: 'rejected',
    },
    {
      what: 'an error of the engine',
      error: { Error: 'Acme: Refused', Cause: `${'c'.repeat(499)}😀` },
      status: 'unknown',
    },
  ])('records an outcome with $what', async ({ what, payload, error, status }) => {
    const store = open();
    const clock = virtualClock();
    await store.putTool(tool);
    const sagaId = `outcome-${what.replaceAll(' ', '-')}`;
    const plan = { steps: [{ id: 'a', tool: 'pay', arguments: {} }] };
    await createStartSaga({ store, engine, clock, evaluate })({ sagaId, plan, input: {}, requestedBy: 'me' });
    const advance = createAdvance({ store, engine, clock, evaluate, executionLink: (arn) => arn });
    const asked = await advance(sagaId, 1, { type: 'begin' }, 'arn');
    const event = eventOf({ ...asked, outcome: error ?? { Payload: payload } });
    await advance(sagaId, 1, event, 'arn');
    const head = await store.getHead(sagaId);
    const entries = await store.listEntries(sagaId);
    expect(entries[2]).toMatchObject({ direction: 'forward', status });
    expect(findChainBreak(entries, head)).toBeUndefined();
    expect(fold(entries)).toEqual(head?.state);
  });

  test('creates a saga once, and moves a head only from the version it read', async () => {
    const store = open();
    await store.putTool(tool);
    const start = createStartSaga({ store, engine, clock: virtualClock(), evaluate });
    const request = {
      sagaId: 'once',
      plan: { steps: [{ id: 'a', tool: 'pay', arguments: {} }] },
      input: {},
      requestedBy: 'me',
    };
    const both = await Promise.all([start(request), start(request)]);
    expect(both.map(({ status }) => status)).toEqual(['RUNNING', 'RUNNING']);
    await expect(start({ ...request, input: { other: 1 } })).rejects.toMatchObject({
      name: 'RequestConflict',
    });
    const head = await store.getHead('once');
    if (head === undefined) throw new Error('no head');
    expect(await store.append({ ...head, version: 9 }, 8, [])).toMatchObject({
      written: false,
      existing: { version: 1 },
    });
    expect(await store.listEntries('once')).toHaveLength(1);
  });

  test('runs the input of the start that was acknowledged, whatever another start of this id wrote meanwhile', async () => {
    const store = open();
    await store.putTool(tool);
    const clock = virtualClock();
    const plan = { steps: [{ id: 'a', tool: 'pay', arguments: { amount: '{% input.amount %}' } }] };
    const request = (amount: number) => ({ sagaId: 'mixed', plan, input: { amount }, requestedBy: 'me' });
    let won = false;
    const overtaken: SagaStore = {
      ...store,
      putPinned: async (pinned) => {
        won ||= (await createStartSaga({ store, engine, clock, evaluate })(request(5))).status === 'RUNNING';
        await store.putPinned(pinned);
      },
    };
    const late = createStartSaga({ store: overtaken, engine, clock, evaluate })(request(9999));
    await expect(late).rejects.toMatchObject({ name: 'RequestConflict' });
    expect(won).toBe(true);
    const advance = createAdvance({ store, engine, clock, evaluate, executionLink: (arn) => arn });
    const next = await advance('mixed', 1, { type: 'begin' }, 'arn');
    expect(next).toMatchObject({ action: 'INVOKE', payload: { arguments: { amount: 5 } } });
  });

  test('keeps versions of the catalog, the last stored being the newest', async () => {
    const store = open();
    await store.putTool({ ...tool, name: 'versioned' });
    expect(await store.putTool({ ...tool, name: 'versioned', version: '2' })).toEqual({ written: true });
    expect(await store.putTool({ ...tool, name: 'versioned', description: 'other' })).toMatchObject({
      written: false,
      existing: { description: '' },
    });
    expect((await store.getTool('versioned'))?.version).toBe('2');
    expect((await store.getTool('versioned', '1'))?.version).toBe('1');
    expect(await store.getTool('versioned', '3')).toBeUndefined();
    expect((await store.listTools()).find(({ name }) => name === 'versioned')?.version).toBe('2');
  });

  test('a name or version that can be no key is not in the catalog', async () => {
    const store = open();
    for (const text of ['', 'n'.repeat(1_100), 'n'.repeat(3_000)]) {
      expect(await store.getTool(text)).toBeUndefined();
      expect(await store.getTool('versioned', `1${text}1`)).toBeUndefined();
      expect(await store.getDefinition(text)).toBeUndefined();
      expect(await store.getDefinition(text, '1')).toBeUndefined();
    }
  });

  test('keeps which sagas a request to put a session aside means, as they were first', async () => {
    const store = open();
    const record = { sessionId: 'chat', requestId: `park-${randomUUID()}`, sagas: [{ sagaId: 'p', seq: 7 }] };
    expect(await store.createPark(record)).toEqual({ written: true });
    const other = { ...record, sagas: [] };
    expect(await store.createPark(other)).toEqual({ written: false, existing: record });
    expect(await store.createPark({ ...other, sessionId: 'chat2' })).toEqual({ written: true });
    expect(await store.createPark(other)).toEqual({ written: false, existing: record });
  });

  test('keeps the token of who waits', async () => {
    const store = open();
    expect(await store.getToken('nobody')).toBeUndefined();
    const token = { sagaId: 'w', generation: 2, step: 1, enteredMs: 1_700_000_000_000, retry: 1, token: 't' };
    expect(await store.putToken(token)).toBe(true);
    expect(await store.getToken('w')).toEqual(token);
    expect(await store.putToken(token)).toBe(true);
  });

  test.each([
    ['an earlier attempt', { retry: 0 }],
    ['an earlier wait', { enteredMs: 1_699_999_999_999, retry: 3 }],
    ['an earlier execution', { generation: 1, enteredMs: 1_700_000_000_001, retry: 3 }],
  ])('the token of who waits is not overwritten by that of %s, which comes late', async (_, earlier) => {
    const store = open();
    const sagaId = `late-${randomUUID()}`;
    const first = { sagaId, generation: 2, step: 1, enteredMs: 1_700_000_000_000, retry: 1, token: 'first' };
    await store.putToken({ ...first, ...earlier, token: 'earlier' });
    expect(await store.putToken(first)).toBe(true);
    expect(await store.putToken({ ...first, ...earlier, token: 'earlier' })).toBe(false);
    expect(await store.getToken(sagaId)).toEqual(first);
  });
});

test('a version that is stored is the newest, whenever the one who stored it died', async () => {
  const client = new DynamoDBClient({
    region: 'us-east-1',
    endpoint: url,
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
  const dying = createSagaStore({ ...tables, client });
  await dying.putTool({ ...tool, name: 'pointed' });
  left = 1;
  await dying.putTool({ ...tool, name: 'pointed', version: '2' }).catch(() => undefined);
  await dynamo.putTool({ ...tool, name: 'pointed', version: '2' });
  expect((await dynamo.getTool('pointed'))?.version).toBe('2');
  client.destroy();
});

test('what was pinned and altered since is refused: steps and input are held against their hashes', async () => {
  await dynamo.putTool(tool);
  const steps = Array.from({ length: 20 }, (_, n) => ({ id: `s${n}`, tool: 'pay', arguments: { n } }));
  const start = createStartSaga({ store: dynamo, engine, clock: virtualClock(), evaluate });
  await start({ sagaId: 'pinned', plan: { steps }, input: { amount: 5 }, requestedBy: 'me' });
  const head = await dynamo.getHead('pinned');
  if (head === undefined) throw new Error('no head');
  const { planHash, inputHash } = head;
  const pinned = await Promise.all(
    steps.map(async (_, index) => dynamo.getPinnedStep('pinned', planHash, index)),
  );
  expect(pinned.map(({ id }) => id)).toEqual(steps.map(({ id }) => id));
  const other = pinned.map((step) => ({ ...step, functionName: step.index === 19 ? 'elsewhere' : 'fn' }));
  await dynamo.putPinned({ sagaId: 'pinned', planHash, inputHash, input: { amount: 9999 }, steps: other });
  const broken = { name: 'LedgerBroken' };
  const fresh = createSagaStore(tables);
  await expect(fresh.getPinnedInput('pinned', inputHash)).rejects.toMatchObject(broken);
  await expect(fresh.getPinnedStep('pinned', planHash, 19)).rejects.toMatchObject(broken);
  // What was proved stays as it was proved, and a reader who changes it changes only its own.
  const again = await dynamo.getPinnedStep('pinned', planHash, 19);
  expect(again.id).toBe('s19');
  Object.assign(again, { functionName: 'elsewhere' });
  expect(await dynamo.getPinnedStep('pinned', planHash, 19)).toEqual(pinned[19]);
});

test('a list of all statuses goes from page to page through the index', async () => {
  const head = await startedHead(dynamo, 'paged');
  const statuses = ['COMPENSATION_FAILED', 'QUEUED', 'COMPLETED'] as const;
  const ids = statuses.flatMap((status) => [1, 2, 3].map((n) => `paged-${status}-${n}`));
  for (const sagaId of ids) {
    const status = statuses.find((one) => sagaId.includes(one)) ?? expect.unreachable(sagaId);
    await dynamo.createSaga({ ...head, sagaId, state: { ...head.state, status } }, []);
  }
  const list = createListSagas({ store: dynamo, clock: virtualClock() });
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
  const head = await startedHead(dynamo, 'owned');
  const ids = Array.from({ length: 12 }, (_, at) => `owned-${String(at).padStart(2, '0')}`);
  for (const [at, sagaId] of ids.entries()) {
    await dynamo.createSaga({ ...head, sagaId, requestedBy: at % 4 === 3 ? 'owner' : 'other' }, []);
  }
  const list = createListSagas({ store: dynamo, clock: virtualClock() });
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
  for (const sagaId of ids) await startedHead(dynamo, sagaId);
  const flight = { now: 0, most: 0, all: 0 };
  tables.client.middlewareStack.add(
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
    const listed = await createListSagas({ store: dynamo, clock: virtualClock() })({
      status: 'RUNNING',
      limit: 1000,
    });
    const found = listed.sagas.map(({ sagaId }) => sagaId);
    for (const sagaId of ids) expect(found).toContain(sagaId);
    expect(flight.all).toBeGreaterThanOrEqual(60);
    expect(flight.most).toBeLessThanOrEqual(16);
  } finally {
    tables.client.middlewareStack.remove('flight');
  }
});

test('a head that a newer release wrote is refused, and nobody writes over it', async () => {
  const head = await startedHead(dynamo, 'newer');
  await tables.client.send(
    new UpdateItemCommand({
      TableName: tables.sagasTable,
      Key: { pk: { S: 'SAGA#newer' }, sk: { S: 'HEAD' } },
      UpdateExpression: 'SET #format = :next',
      ExpressionAttributeNames: { '#format': 'format' },
      ExpressionAttributeValues: { ':next': { N: String(SAGA_FORMAT + 1) } },
    }),
  );
  const advance = createAdvance({
    store: dynamo,
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
  expect(await dynamo.listEntries('newer')).toHaveLength(head.seq);
});

test('tombstones stand once they are buried', async () => {
  const tombstones = createTombstones(tables);
  expect(await tombstones.isBuried('k:0')).toBe(false);
  await tombstones.bury('k:0');
  await tombstones.bury('k:0');
  expect(await tombstones.isBuried('k:0')).toBe(true);
});

test('an attempt is claimed once, also by two at once, and the next attempt by itself; a tombstone is none', async () => {
  const tombstones = createTombstones(tables);
  const claim = (attempt: number) => tombstones.claim?.('k:claimed', attempt);
  const both = await Promise.all([claim(1), claim(1)]);
  expect(both.map(String).toSorted()).toEqual(['false', 'true']);
  expect(await claim(1)).toBe(false);
  expect(await claim(2)).toBe(true);
  expect(await tombstones.isBuried('k:claimed')).toBe(false);
});

test('a session finds its sagas in the order of their start, whichever store keeps them', async () => {
  const memory = memorySagaStore().store;
  for (const store of [dynamo, memory]) {
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
  await opened.tables.client.send(
    new PutItemCommand({
      TableName: opened.sessionsTable,
      Item: { pk: { S: 'SESSION#fenced' }, sk: { S: 'META' }, epoch: { N: '2' } },
    }),
  );
  const fencing = createSagaStore({ ...opened.tables, sessionsTable: opened.sessionsTable });
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
  await expect(dynamo.createSaga(head, [], [], { sessionId: 'fenced', epoch: 2 })).rejects.toMatchObject({
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
  for (const store of [dynamo, memorySagaStore().store]) {
    expect(await store.getRewind('session', 'rw')).toBeUndefined();
    expect(await store.createRewind(record)).toEqual({ written: true });
    expect(await store.createRewind({ ...record, by: 'ada' })).toEqual({ written: false, existing: record });
    const done = { ...record, guidance: 'Less.', doneAt: '2026-01-01T00:01:00.000Z' };
    await store.finishRewind(done);
    expect(await store.getRewind('session', 'rw')).toEqual(done);
    expect(await store.getRewind('session2', 'rw')).toBeUndefined();
  }
});
