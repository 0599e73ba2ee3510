/** `testSaga` on plans that run sagas: every failure at every call, wherever in the tree it is. */
import { describe, expect, test } from 'vitest';
import type { Plan } from '../../core/saga/model/plan.ts';
import { bookRoom } from '../../examples/first-tool/book-room.ts';
import { openHotel } from '../../examples/first-tool/hotel.ts';
import { SagaUnsafe, testSaga } from '../../kit/testing/test-saga.ts';
import { definitionOf } from '../support/tree-saga.ts';

const book = (id: string) => ({ id, tool: 'book_room', arguments: { nights: 2 } });

/** Each saga books one room as its first step. */
const tree: Plan = {
  steps: [
    book('own'),
    { id: 'one', saga: { definition: 'room' }, input: {} },
    {
      id: 'side',
      branches: [
        { id: 'a', plan: { steps: [book('left')] } },
        { id: 'b', plan: { steps: [{ id: 'deep', saga: { plan: { steps: [book('down')] } }, input: {} }] } },
      ],
    },
    { id: 'all', each: '{% input.rooms %}', plan: { steps: [book('room')] } },
  ],
};
const PATHS: Record<string, string> = {
  '': 'own',
  '.one': 'one/first',
  '.side.a': 'side/a/left',
  '.side.b.deep': 'side/b/deep/down',
  '.all.0': 'all/0/room',
  '.all.1': 'all/1/room',
};

/** By the note of the booking: `<saga>:<step index>`. */
const standingAt = (hotel: ReturnType<typeof openHotel>) => async (sagaId: string) =>
  (await hotel.bookings()).flatMap(({ note }) => {
    const [saga = ''] = note.split(':');
    const isOurs = saga === sagaId || saga.startsWith(`${sagaId}.`);
    return isOurs ? [PATHS[saga.slice(sagaId.length)] ?? saga] : [];
  });

const options = (hotel: ReturnType<typeof openHotel>) => ({
  input: { rooms: [1, 2] },
  definitions: [definitionOf('room', { steps: [book('first')] })],
  standing: standingAt(hotel),
  prefix: 't',
});

test('a plan that waits for an agent is refused, since nobody plays one', async () => {
  const plan: Plan = { steps: [book('own'), { id: 'work', interactive: { onIdle: 'unwind' } }] };
  await expect(testSaga(plan, [bookRoom(openHotel())], { prefix: 't' })).rejects.toThrow(
    'testSaga plays no agent, which t-tree.work waits for',
  );
});

describe('a tree of sagas', () => {
  test('ends all done or all undone, whatever fails at whichever call of it', async () => {
    const hotel = openHotel();
    const failures = ['dies after the effect, before the record', 'times out after the effect'];
    const cases = await testSaga(tree, [bookRoom(hotel)], { ...options(hotel), failures });
    expect(new Set(cases.map(({ step }) => step))).toEqual(new Set(Object.values(PATHS)));
    // Every call of both ways, with every failure.
    expect(cases).toHaveLength(6 * 2 * 2);
    const ends = (operation: string) =>
      new Set(cases.filter((one) => one.operation === operation).map(({ status }) => status));
    expect(ends('execute')).toEqual(new Set(['COMPLETED']));
    expect(ends('compensate')).toEqual(new Set(['COMPENSATED']));
    expect(await hotel.bookings()).toHaveLength(6 * 2 * 6 + 6);
  });

  test('finds a compensator of a child that takes nothing back', async () => {
    const hotel = openHotel();
    const forgetful = bookRoom({ ...hotel, cancel: async () => undefined });
    const found = testSaga(tree, [forgetful], {
      ...options(hotel),
      failures: ['is throttled before the call'],
    });
    await expect(found).rejects.toBeInstanceOf(SagaUnsafe);
    await expect(found).rejects.toThrow(
      /compensate of side\/b\/deep\/down .*\n(?:.*\n)*?\s+side\/b\/deep\/down stands and is not listed/,
    );
  });

  test('whose ids are too long to be followed is refused by name', async () => {
    const hotel = openHotel();
    const long = { steps: [{ id: 'x'.repeat(46), saga: { plan: { steps: [book('room')] } }, input: {} }] };
    await expect(testSaga(long, [bookRoom(hotel)], { prefix: 'a-long-prefix' })).rejects.toThrow(
      /choose shorter ids/,
    );
  });
});
