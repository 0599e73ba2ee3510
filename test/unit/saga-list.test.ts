/** Listing sagas of all statuses: page by page, while they move, by the function, the client and the command. */
import { describe, expect, test } from 'vitest';
import { createSagas } from '../../client/sagas.ts';
import type { SagasAnswer } from '../../contract/saga-lists.ts';
import { SAGA_STATUSES, type SagaStatus } from '../../contract/saga-observation.ts';
import { isSameTurn, MOVING_STATUSES, type SagaHead, STATUSES_AT_WORK } from '../../core/saga/model/head.ts';
import { createListSagas } from '../../core/saga/view/list-sagas.ts';
import { sagaTitle } from '../../present/saga-words.ts';
import { made } from '../support/console-in-process.ts';
import { runCommand } from '../support/recording-app.ts';
import { SAGA, scriptedSaga } from '../support/scripted-saga.ts';

const listed = async () => {
  const saga = await scriptedSaga({ tools: [], answer: () => expect.unreachable('no step') });
  const { store, clock } = saga;
  await saga.beginInteractive();
  const model = (await store.getHead(SAGA)) ?? expect.unreachable('no head');
  const put = async (sagaId: string, status: SagaStatus): Promise<void> => {
    const at = clock.now().toISOString();
    const head: SagaHead = {
      ...model,
      sagaId,
      state: { ...model.state, status, wait: null },
      statusSince: at,
    };
    expect((await store.createSaga(head, [])).written).toBe(true);
  };
  const move = async (sagaId: string, status: SagaStatus): Promise<void> => {
    const head = (await store.getHead(sagaId)) ?? expect.unreachable('no head');
    const state = { ...head.state, status };
    const statusSince = isSameTurn(head.state, state) ? head.statusSince : clock.now().toISOString();
    await store.append({ ...head, state, statusSince, version: head.version + 1 }, head.version, []);
  };
  await move(SAGA, 'COMPLETED');
  /** What happens around the read of a status. */
  const around: Partial<Record<'before' | 'after', (status: SagaStatus) => Promise<void>>> = {};
  /** Left out of lists by status, as a saga that moved on before the index knew. */
  const gone = new Set<string>();
  const slow = { everyMs: 0 };
  const list = createListSagas({
    store: {
      ...store,
      listHeadsByStatus: async (...asked) => {
        const page = await store.listHeadsByStatus(...asked);
        await clock.advance(slow.everyMs);
        return { ...page, items: page.items.filter(({ sagaId }) => !gone.has(sagaId)) };
      },
      listByStatus: async (status, ...asked) => {
        await around.before?.(status);
        const page = await store.listByStatus(status, ...asked);
        await around.after?.(status);
        return page;
      },
    },
    clock,
  });
  /** `between`: what happens after each page. */
  const pages = async (limit: number, between: (page: SagasAnswer) => Promise<void> = async () => {}) => {
    const told: SagasAnswer['sagas'] = [];
    let cursor: string | undefined;
    do {
      const page: SagasAnswer = await list({ limit, ...(cursor === undefined ? {} : { cursor }) });
      expect(page.sagas.length).toBeLessThanOrEqual(limit);
      told.push(...page.sagas);
      await between(page);
      ({ cursor } = page);
    } while (cursor !== undefined);
    return told;
  };
  return { clock, put, move, list, pages, around, gone, slow };
};

/** Some of each status; some of them since the same millisecond. */
const filled = async () => {
  const world = await listed();
  const ids = [SAGA];
  for (let round = 0; round < 3; round += 1) {
    for (const status of SAGA_STATUSES) {
      for (const twin of ['a', 'b', 'c']) {
        ids.push(`${status}-${round}${twin}`);
        await world.put(`${status}-${round}${twin}`, status);
      }
      if (round !== 1) await world.clock.advance(10);
    }
  }
  return { ...world, ids: ids.toSorted() };
};

const idsOf = (sagas: readonly { sagaId: string }[]) => sagas.map(({ sagaId }) => sagaId);

test('a page of one status is full unless nothing is left, however many have moved on', async () => {
  const { put, list, gone } = await listed();
  const ids = Array.from({ length: 60 }, (_, at) => `r-${String(at).padStart(2, '0')}`);
  for (const id of ids) await put(id, 'RUNNING');
  for (const id of ids.slice(5, 55)) gone.add(id);
  for (const limit of [1, 3, 4, 7]) {
    const told: string[] = [];
    let cursor: string | undefined;
    do {
      const page: SagasAnswer = await list({ status: 'RUNNING', limit, ...(cursor && { cursor }) });
      if (page.cursor !== undefined) expect(page.sagas).toHaveLength(limit);
      told.push(...idsOf(page.sagas));
      ({ cursor } = page);
    } while (cursor !== undefined);
    expect(told).toEqual(ids.filter((id) => !gone.has(id)));
  }
});

test('a page that takes too long to fill is answered as it is, with a cursor', async () => {
  const { put, list, gone, slow } = await listed();
  for (let at = 0; at < 60; at += 1) await put(`r-${at}`, 'RUNNING');
  for (let at = 0; at < 60; at += 1) gone.add(`r-${at}`);
  slow.everyMs = 6_000;
  expect(await list({ status: 'RUNNING', limit: 10 })).toMatchObject({
    sagas: [],
    cursor: expect.any(String),
  });
});

describe('sagas of all statuses', () => {
  test.each([1, 2, 7, 81, 82, 200])(
    'are told once each in pages of %i, no status forgotten',
    async (limit) => {
      const { pages, ids } = await filled();
      expect(idsOf(await pages(limit)).toSorted()).toEqual(ids);
    },
  );

  test('come in the same order whatever the pages, those that need a person first', async () => {
    const { pages, list } = await filled();
    const all = await list({ limit: 1000 });
    expect(all.cursor).toBeUndefined();
    expect(idsOf(await pages(4))).toEqual(idsOf(all.sagas));
    const statuses = all.sagas.map(({ status }) => status);
    expect(new Set(statuses.slice(0, 27))).toEqual(new Set(['COMPENSATION_FAILED', 'AWAITING', 'PARKED']));
    expect(statuses.at(-1)).toBe('COMPLETED');
    expect(
      idsOf(all.sagas)
        .slice(0, 9)
        .map((id) => id.replace('COMPENSATION_FAILED-', '')),
    ).toEqual(
      ['0a', '0b', '0c', '1a', '1b', '1c', '2a', '2b', '2c'], // the longest in it first
    );
  });

  test('have no cursor where nothing follows, and one where something does', async () => {
    const { list, ids } = await filled();
    expect(await list({ limit: ids.length })).not.toHaveProperty('cursor');
    expect(await list({ limit: ids.length - 1 })).toHaveProperty('cursor');
  });

  test('are all told when they move meanwhile: at the end, as they are then', async () => {
    for (const limit of [1, 5, 20]) {
      const { pages, move, clock, ids, put } = await filled();
      let turn = 0;
      const told = await pages(limit, async () => {
        turn += 1;
        await clock.advance(10);
        // To the front from behind, to the end from the front, among the moving ones, and a new one.
        if (turn === 1) await move('COMPLETED-0a', 'COMPENSATION_FAILED');
        if (turn === 1) await move('COMPENSATION_FAILED-0a', 'COMPLETED');
        if (turn === 1) await move('RUNNING-0b', 'COMPENSATING');
        if (turn === 2) await move('PAUSED-1a', 'RUNNING');
        if (turn === 2) await put('new', 'QUEUED');
        if (turn === 2) await move('QUEUED-2c', 'RUNNING');
        if (turn === 3) await move('COMPLETED-0a', 'COMPENSATED');
      });
      expect([...new Set(idsOf(told))].toSorted(), `pages of ${limit}`).toEqual([...ids, 'new'].toSorted());
      const last = new Map(told.map(({ sagaId, status }) => [sagaId, status]));
      expect(last.get('COMPENSATION_FAILED-0a')).toBe('COMPLETED');
      expect(last.get('RUNNING-0b')).toBe('COMPENSATING');
      // Only of those that changed their status may an earlier page have told.
      const twice = idsOf(told).filter((id, at, all) => all.indexOf(id) !== at);
      const moved = ['COMPLETED-0a', 'COMPENSATION_FAILED-0a', 'QUEUED-2c'];
      expect(twice.filter((id) => !moved.includes(id))).toEqual([]);
    }
  });

  test.each([
    ['PAUSED', 'RUNNING'],
    ['RUNNING', 'PAUSED'],
    ['QUEUED', 'RUNNING'],
    ['PAUSED', 'COMPENSATING'],
  ] as const)('are all told when one goes from %s to %s while a page reads both', async (from, to) => {
    for (const limit of [1, 7, 200]) {
      const { pages, move, ids, around } = await filled();
      const moved = Promise.withResolvers<void>();
      // The status that it goes to is read without it, and the one that it comes from once it is gone.
      around.before = async (status) => {
        if (status === from) await moved.promise;
      };
      around.after = async (status) => {
        if (status !== to) return;
        around.after = async () => {};
        await move(`${from}-1a`, to);
        moved.resolve();
      };
      expect([...new Set(idsOf(await pages(limit)))].toSorted(), `pages of ${limit}`).toEqual(ids);
    }
  });

  test('refuse a cursor that the list of all did not give', async () => {
    const { list } = await filled();
    const { cursor: given = '' } = await list({ limit: 2 });
    const { cursor: ofStatus = '' } = await list({ limit: 2, status: 'RUNNING' });
    for (const cursor of ['', 'x', '1', ofStatus, `${given}x`, `0${given}`, given.split('.')[0] ?? '']) {
      await expect(list({ limit: 2, cursor }), cursor).rejects.toMatchObject({ name: 'InvalidInput' });
    }
    await expect(list({ limit: 2, status: 'RUNNING', cursor: given })).rejects.toMatchObject({
      name: 'InvalidInput',
    });
  });

  test('keep their place while one moving status follows another', () => {
    for (const status of MOVING_STATUSES) expect(STATUSES_AT_WORK).toContain(status);
  });
});

/** 260 sagas, in pages; the first of them is told again on the last page. */
const answer = ({ limit = 50, cursor = '0' }: { limit?: number; cursor?: string }) => {
  const at = '2026-01-01T00:00:00.000Z';
  const rest = { definition: null, started: 0, steps: 1, failure: null, requestedBy: 'me' };
  const of = (id: number, status: SagaStatus = 'RUNNING') => ({
    sagaId: `s-${id}`,
    status,
    ...rest,
    createdAt: at,
    updatedAt: at,
  });
  const all = [...Array.from({ length: 260 }, (_, id) => of(id)), of(0, 'COMPLETED')];
  const next = Number(cursor) + limit;
  return { sagas: all.slice(Number(cursor), next), ...(next < all.length ? { cursor: `${next}` } : {}) };
};

test('the client answers every saga once, as it was told last', async () => {
  const invoke = async (_: string, input: object) => answer(input);
  const sagas = await createSagas(invoke as Parameters<typeof createSagas>[0]).list();
  expect(sagas).toHaveLength(260);
  expect(sagas[0]).toMatchObject({ sagaId: 's-0', status: 'COMPLETED' });
});

test('the client answers the locks of all pages, and of one page when it is asked for that', async () => {
  const lock = { sagaId: 's', resourceKey: 'order/1' };
  const asked: object[] = [];
  const invoke = async (_: string, input: { cursor?: string }) => {
    asked.push(input);
    if (input.cursor === undefined) return { locks: [], cursor: 'AWAITING' };
    return input.cursor === 'AWAITING' ? { locks: [lock], cursor: 'PAUSED' } : { locks: [] };
  };
  const sagas = createSagas(invoke as Parameters<typeof createSagas>[0]);
  expect(await sagas.locks()).toEqual({ locks: [lock] });
  expect(asked).toEqual([{ cursor: undefined }, { cursor: 'AWAITING' }, { cursor: 'PAUSED' }]);
  expect(await sagas.locks({ limit: 50 })).toEqual({ locks: [], cursor: 'AWAITING' });
  expect(await sagas.locks({ cursor: 'AWAITING' })).toEqual({ locks: [lock], cursor: 'PAUSED' });
});

describe('walkback saga list', () => {
  const run = (...argv: string[]) =>
    runCommand(['saga', ...argv], {
      answers: { 'walkback-list-sagas': answer, 'walkback-list-locks': { locks: [] } },
    });

  test('says that there are more, and how to see them', async () => {
    const { stdout, stderr } = await run('list');
    expect(stdout.split('\n').filter((line) => line.startsWith('s-'))).toHaveLength(50);
    expect(stderr).toContain('there are more sagas: walkback saga list --limit 500');
    expect((await run('list', '--status', 'RUNNING')).stderr).toContain(
      'walkback saga list --status RUNNING --limit 500',
    );
    expect(JSON.parse((await run('list', '--json')).stdout)).toMatchObject({ cursor: '50' });
  });

  test('calls each by what it does, in the words of the console', async () => {
    const [saga] = answer({ limit: 1 }).sagas;
    const subject = {
      tool: 'pay',
      amount: '250.00',
      currency: 'EUR',
      about: { name: 'orderId', value: '2001' },
    };
    const titled = { ...saga, sagaId: 's-1', definition: 'refund@1', subject };
    const hostile = {
      ...saga,
      sagaId: 's-2',
      definition: null,
      subject: { tool: '\u001B[31mred\u202E', externalRef: 'x' },
    };
    const { stdout, calls } = await runCommand(['saga', 'list'], {
      answers: { 'walkback-list-sagas': { sagas: [titled, hostile, { ...saga, sagaId: 's-3' }] } },
    });
    expect(sagaTitle(titled)).toBe('Refund 250.00 EUR, order 2001');
    expect(stdout).toMatch(/^SAGA +WHAT IT DOES +STATUS/);
    expect(stdout).toMatch(/^s-1 +Refund 250\.00 EUR, order 2001 +RUNNING/m);
    expect(stdout).toMatch(/^s-3 +- +RUNNING/m);
    for (const control of ['\u001B', '\u202E']) expect(stdout).not.toContain(control);
    expect(calls[0]?.input).toMatchObject({ subject: true });
  });

  test('shows in the queue also who waits for a lock', async () => {
    expect((await run('queue')).stderr).toContain('walkback saga queue --limit 500');
    const lock = (sagaId: string, waiting: string[]) => ({
      sagaId,
      status: 'RUNNING',
      resourceKey: 'apply',
      since: '2026-01-01T00:00:00.000Z',
      fencingToken: 1,
      waiting,
    });
    const locks = [lock('one', ['two', 'three']), lock('lonely', [])];
    const queue = (given: typeof locks, ...argv: string[]) =>
      runCommand(['saga', 'queue', ...argv], {
        answers: { 'walkback-list-sagas': { sagas: [] }, 'walkback-list-locks': { locks: given } },
      });
    const { stdout } = await queue(locks);
    expect(stdout).toMatch(/two +apply +one\nthree +apply +one/);
    expect(stdout).not.toContain('lonely');
    expect(JSON.parse((await queue(locks, '--json')).stdout)).toEqual({
      sagas: [],
      locks: locks.slice(0, 1),
    });
    expect((await queue([])).stdout).toBe('No saga waits for its turn.\n');
  });

  test('reads as many pages as are asked for', async () => {
    const { stdout, stderr } = await run('list', '--limit', '500');
    expect(stdout.split('\n').filter((line) => line.startsWith('s-'))).toHaveLength(260);
    expect(stderr).not.toContain('there are more');
  });
});

test('the console leads on to more sagas, of all statuses too', async () => {
  const { fetchPage, enter } = made({ 'list-sagas': answer });
  const { cookie } = await enter();
  const first = await (await fetchPage('/sagas', { headers: { cookie } })).text();
  expect(first).toContain('<a class="button" href="/sagas?cursor=50">More sagas</a>');
  const last = await (await fetchPage('/sagas?cursor=250', { headers: { cookie } })).text();
  expect(last).toContain('s-259');
  expect(last).not.toContain('More sagas');
});
