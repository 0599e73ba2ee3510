/** Permits over DynamoDB and over the fake of the tests: granted once with each token, in the order of the line. */
import { describe, expect, test } from 'vitest';
import { createSagaStore } from '../../adapters/aws/sagas/saga-store.ts';
import type { Claim, Permit, Ticket } from '../../core/saga/model/permit.ts';
import type { SagaStore } from '../../core/saga/ports.ts';
import { newHead } from '../../core/saga/run/new-head.ts';
import { memorySagaStore } from '../../kit/testing/memory-saga-store.ts';
import { openSagaTables } from '../support/saga-tables.ts';
import { shared } from '../support/shared.ts';

const opened = shared(openSagaTables);
const dynamo = shared(() => createSagaStore(opened().tables));

const HASH = 'a'.repeat(64);
const AT = '2026-01-01T00:00:00.000Z';

const create = (store: SagaStore, sagaId: string, claims: readonly Claim[]) => {
  const fact = {
    direction: 'saga',
    status: 'started',
    planHash: HASH,
    inputHash: HASH,
    stepCount: 1,
    requestHash: HASH,
  } as const;
  const hashes = { requestHash: HASH, planHash: HASH, inputHash: HASH };
  const { head, entries } = newHead({ sagaId, ...hashes, requestedBy: 'me' }, [fact], AT);
  return store.createSaga(head, entries, claims);
};

const permitOf = (holder: string, more: Partial<Permit> = {}): Permit => ({
  semaphore: 'lock:shop:ada',
  number: 0,
  holder,
  fencingToken: 1,
  since: AT,
  label: 'ada',
  ...more,
});
const claim = (permit: Permit): Claim => ({ claim: 'permit', permit });
const ticketOf = (sagaId: string, minute: number): Ticket => ({
  semaphore: 'lock:shop:ada',
  root: { sagaId, startedAt: `2026-01-01T00:${String(minute).padStart(2, '0')}:00.000Z` },
  sagaId,
  seq: 1,
});

describe.each([
  { name: 'DynamoDB', open: () => dynamo(), prefix: 'd' },
  { name: 'the fake of the tests', open: () => memorySagaStore().store, prefix: 'm' },
])('permits: $name', ({ open, prefix }) => {
  test('each token is granted once, with the entry that says so, and a release takes the name off', async () => {
    const store = open();
    const [one, two, three] = [`${prefix}-one`, `${prefix}-two`, `${prefix}-three`];
    expect(await create(store, one, [claim(permitOf(one))])).toEqual({ written: true });
    expect(await create(store, two, [claim(permitOf(two))])).toEqual({ written: false });
    expect(await store.getHead(two)).toBeUndefined();
    expect(await create(store, two, [claim(permitOf(two, { fencingToken: 3 }))])).toEqual({ written: false });
    expect(await store.permits.granted('lock:shop:ada')).toEqual([permitOf(one)]);
    expect(await store.permits.heldBy(one)).toEqual([permitOf(one)]);

    // Somebody else's release, and one that comes late, change nothing.
    await store.permits.release(permitOf(two));
    expect(await store.permits.granted('lock:shop:ada')).toEqual([permitOf(one)]);
    await store.permits.release(permitOf(one));
    expect(await store.permits.granted('lock:shop:ada')).toEqual([permitOf('')]);
    expect(await store.permits.heldBy(one)).toEqual([]);

    const second = permitOf(two, { fencingToken: 2 });
    expect(await create(store, two, [claim(second)])).toEqual({ written: true });
    await store.permits.release(permitOf(one));
    expect(await store.permits.granted('lock:shop:ada')).toEqual([second]);
    const both = [
      claim(permitOf(three, { fencingToken: 3 })),
      claim(permitOf(three, { semaphore: 'lock:shop:ben' })),
    ];
    expect(await create(store, three, both)).toEqual({ written: true });
    expect((await store.permits.heldBy(three)).map(({ semaphore }) => semaphore)).toEqual([
      'lock:shop:ada',
      'lock:shop:ben',
    ]);
  });

  test('a line is in the order in which the roots began, however long it is', async () => {
    const store = open();
    const semaphore = `lock:shop:line-${prefix}`;
    const tickets = Array.from({ length: 23 }, (_, minute) => ({
      ...ticketOf(`${prefix}-w${minute}`, minute),
      semaphore,
    }));
    for (const ticket of tickets.toReversed()) {
      expect(await create(store, ticket.sagaId, [{ claim: 'ticket', ticket }])).toEqual({ written: true });
    }
    expect(await Array.fromAsync(store.permits.line(semaphore))).toEqual(tickets);
    const [first, ...rest] = tickets;
    if (first === undefined) throw new Error('no ticket');
    await store.permits.leave(first);
    expect(await Array.fromAsync(store.permits.line(semaphore))).toEqual(rest);
    expect(await store.permits.granted(semaphore)).toEqual([]);
  });

  test('who stands in line again is not taken out by who clears the place of before', async () => {
    const store = open();
    const semaphore = `lock:shop:again-${prefix}`;
    const [before, again] = [{}, { seq: 5 }].map((seq) => ({ ...ticketOf('waits', 1), semaphore, ...seq }));
    if (before === undefined || again === undefined) throw new Error('no ticket');
    await create(store, `${prefix}-again`, [{ claim: 'ticket', ticket: again }]);
    await store.permits.leave(before);
    expect(await Array.fromAsync(store.permits.line(semaphore))).toEqual([again]);
    await store.permits.leave(again);
    await store.permits.leave(again);
    expect(await Array.fromAsync(store.permits.line(semaphore))).toEqual([]);
  });

  test('a late release of a lock that was broken leaves the one that its root was granted since', async () => {
    const store = open();
    const semaphore = `lock:shop:broken-${prefix}`;
    const root = `${prefix}-root`;
    const broken = permitOf(root, { semaphore });
    const anew = permitOf(root, { semaphore, fencingToken: 2 });
    await create(store, `${prefix}-broken`, [claim(broken)]);
    await create(store, `${prefix}-anew`, [claim(anew)]);
    await store.permits.release(broken);
    expect(await store.permits.heldBy(root)).toEqual([anew]);
    await store.permits.release(anew);
    expect(await store.permits.heldBy(root)).toEqual([]);
  });

  test('slots of a project are permits with numbers', async () => {
    const store = open();
    const semaphore = `project:slots-${prefix}`;
    const slots = [0, 1, 12].map((number) =>
      permitOf(`${prefix}-s${number}`, { semaphore, number, label: 'shop' }),
    );
    for (const slot of slots)
      expect(await create(store, slot.holder, [claim(slot)])).toEqual({ written: true });
    expect(await store.permits.granted(semaphore)).toEqual(slots);
    expect(await store.permits.heldBy(`${prefix}-s0`)).toEqual([]);
  });
});
