/** Sagas that hold more locks than one answer has room for. */
import { expect } from 'vitest';
import type { ListLocksInput } from '../../contract/saga-inputs.ts';
import type { LocksAnswer } from '../../contract/saga-lists.ts';
import { jsonBytes } from '../../core/shared/json-bytes.ts';
import { lockFleet } from '../support/lock-fleet.ts';
import { inTurn } from '../support/sampled-test.ts';

const test = inTurn('saga-lock-pages');

const MIB = 1024 * 1024;

const named = (text: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) => `${text}${String(at).padStart(4, '0')}`);

/** Sagas that took all of these, and wait for a person. What that step needs is taken before it only where they are few. */
const holding = async (keys: Readonly<Record<string, readonly string[]>>) => {
  const fleet = await lockFleet();
  for (const [sagaId, held] of Object.entries(keys)) {
    await fleet.begin(sagaId, [...held, { key: `${sagaId} asks`, approval: true }]);
  }
  await fleet.settle(1000);
  const pages = async (asked: ListLocksInput, between = async () => {}): Promise<LocksAnswer[]> => {
    const all: LocksAnswer[] = [];
    let cursor: string | undefined;
    do {
      const page = await fleet.list({ ...asked, ...(cursor === undefined ? {} : { cursor }) });
      all.push(page);
      ({ cursor } = page);
      await between();
    } while (cursor !== undefined);
    return all;
  };
  return { ...fleet, pages };
};

const keysOf = (pages: readonly LocksAnswer[]): string[] =>
  pages.flatMap(({ locks }) => locks.map(({ resourceKey }) => resourceKey)).toSorted();

test('a page of locks has room in an answer, however many and long they are, and the next goes on in the same saga', async () => {
  // Each takes six times as much in JSON.
  const long = '\u0001'.repeat(490);
  const keys = { first: named(`${long}a`, 130), second: named(`${long}b`, 450), third: ['c'] };
  const { pages, list } = await holding(keys);
  const expected = [...Object.values(keys).flat(), 'third asks'].toSorted();
  const all = await pages({});
  expect(all.length).toBeGreaterThan(1);
  expect(Math.max(...all.map((page) => jsonBytes(page)))).toBeLessThan(MIB + 5_000);
  expect(keysOf(all)).toEqual(expected);
  expect(keysOf(await pages({ limit: 60 }))).toEqual(expected);
  const ofOne = await pages({ sagaId: 'second' });
  expect(ofOne.length).toBe(2);
  expect(keysOf(ofOne)).toEqual(keys.second);
  const cursor = ofOne[0]?.cursor ?? '';
  await expect(list({ sagaId: 'first', cursor })).rejects.toMatchObject({ name: 'InvalidInput' });
  await expect(list({ cursor })).rejects.toMatchObject({ name: 'InvalidInput' });
});

test('a page of locks is full unless nothing is left, however many sagas hold none', async () => {
  const { pages, begin, settle } = await holding({ first: ['a'] });
  for (const sagaId of named('idle', 60)) await begin(sagaId, [{ child: sagaId }]);
  await begin('last', ['b', 'c', 'd', { key: 'e', approval: true }]);
  await settle(1000);
  for (const limit of [1, 4, 50]) {
    const told = await pages({ limit });
    for (const page of told.slice(0, -1)) expect(page.locks).toHaveLength(limit);
    expect(keysOf(told)).toEqual(['a', 'b', 'c', 'd', 'e', 'first asks']);
  }
});

test('a page reads no more locks than a call has time for', async () => {
  const keys = { first: named('a', 300), second: named('b', 650) };
  const { pages, store } = await holding(keys);
  let looks = 0;
  let most = 0;
  const permits = { ...store.permits };
  store.permits.granted = (semaphore) => {
    looks += 1;
    return permits.granted(semaphore);
  };
  const all = await pages({}, async () => {
    most = Math.max(most, looks);
    looks = 0;
  });
  expect(most).toBeLessThanOrEqual(510);
  expect(keysOf(all)).toEqual(Object.values(keys).flat());
});
