/** What a store of sagas keeps, over DynamoDB and over the fake of the tests. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createSagaStore } from '../../adapters/aws/sagas/saga-store.ts';
import { fold } from '../../core/saga/decide/fold.ts';
import { findChainBreak } from '../../core/saga/entries/hash-chain.ts';
import type { SagaStore } from '../../core/saga/ports.ts';
import { createAdvance } from '../../core/saga/run/advance.ts';
import { eventOf } from '../../core/saga/run/engine-protocol.ts';
import { createStartSaga } from '../../core/saga/run/start.ts';
import { memorySagaStore } from '../../kit/testing/memory-saga-store.ts';
import { virtualClock } from '../../kit/testing/virtual-clock.ts';
import { openSagaTables } from '../support/saga-tables.ts';
import { shared } from '../support/shared.ts';
import { engine, evaluate, startedHead, tool } from '../support/started-saga.ts';

const opened = shared(openSagaTables);
const dynamo = shared(() => createSagaStore(opened().tables));

describe.each([
  { name: 'DynamoDB', open: () => dynamo() },
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
