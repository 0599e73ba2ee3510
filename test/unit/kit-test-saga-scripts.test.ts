/** `testSaga` on a script of an agent that submits its steps one by one: every failure at every call. */
import { describe, expect, test } from 'vitest';
import { bookRoom } from '../../examples/first-tool/book-room.ts';
import { openHotel } from '../../examples/first-tool/hotel.ts';
import { ENGINE_FAULTS } from '../../kit/testing/faults.ts';
import type { InteractiveScript } from '../../kit/testing/interactive-script.ts';
import { SagaUnsafe, testSaga } from '../../kit/testing/test-saga.ts';
import { printedSeed, sampled } from '../support/sampling.ts';

/** It asks for too much, is told so, and takes what it can get; the last step depends on what it was told. */
const script: InteractiveScript = {
  submit: [
    { id: 'first', tool: 'book_room', arguments: { nights: 2 } },
    { id: 'long', tool: 'book_room', arguments: { nights: 31 }, outcome: 'rejected' },
    {
      id: 'last',
      tool: 'book_room',
      arguments: ({ long }) => ({ nights: long?.error?.name === 'TooLong' ? 30 : 1 }),
    },
  ],
};

/** Some of them, others each time; all of them in a whole run. */
const FAILURES = sampled(Object.keys(ENGINE_FAULTS), {
  every: 5,
  offset: printedSeed('scripts of submitted steps'),
  minimum: 3,
});

const standingAt =
  (hotel: ReturnType<typeof openHotel>, { submit } = script) =>
  async (sagaId: string) =>
    (await hotel.bookings()).flatMap(({ note }) => {
      const [saga, index] = note.split(':');
      return saga === sagaId ? [submit[Number(index)]?.id ?? note] : [];
    });

describe('a script of submitted steps', () => {
  test('ends all done or all undone, whatever fails at whichever call', async () => {
    const hotel = openHotel();
    const cases = await testSaga(script, [bookRoom(hotel)], {
      standing: standingAt(hotel),
      failures: FAILURES,
    });
    const steps = (operation: string) =>
      cases.filter((one) => one.operation === operation).map(({ step }) => step);
    // Every call with every failure. Nothing of the rejected step is taken back.
    expect(new Set(steps('execute'))).toEqual(new Set(['first', 'long', 'last']));
    expect(steps('execute')).toHaveLength(3 * FAILURES.length);
    expect(new Set(steps('compensate'))).toEqual(new Set(['first', 'last']));
    expect(steps('compensate')).toHaveLength(2 * FAILURES.length);
    expect(cases.map(({ status }) => status)).toContain('COMPLETED');
    // Some were told of the hotel's refusal, and acted on it.
    expect((await hotel.bookings()).map(({ nights }) => nights)).toContain(30);
  });

  test('that ends with taking everything back leaves nothing', async () => {
    const hotel = openHotel();
    const failures = ['dies after the intent, before the call', 'times out after the effect'];
    const cases = await testSaga({ ...script, close: 'unwind' }, [bookRoom(hotel)], {
      standing: standingAt(hotel),
      failures,
    });
    expect(new Set(cases.map(({ status }) => status))).toEqual(new Set(['COMPENSATED']));
    expect(await hotel.bookings()).toEqual([]);
  });

  test('finds a compensator that takes nothing back', async () => {
    const hotel = openHotel();
    const forgetful = bookRoom({ ...hotel, cancel: async () => undefined });
    const found = testSaga(script, [forgetful], {
      standing: standingAt(hotel),
      failures: ['dies after the effect, before the record'],
    });
    await expect(found).rejects.toBeInstanceOf(SagaUnsafe);
    await expect(found).rejects.toThrow(/compensate of last .*\n(?:.*\n)*?\s+last stands and is not listed/);
  });

  test('is refused when it goes otherwise with nothing failing', async () => {
    const wrong = { submit: script.submit.map((step) => ({ ...step, outcome: 'committed' as const })) };
    await expect(testSaga(wrong, [bookRoom(openHotel())])).rejects.toThrow(
      'With nothing failing, step long was told as rejected (TooLong: The hotel takes nobody for more than 30 nights.), and the script says committed',
    );
  });
});
