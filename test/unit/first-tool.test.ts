/** The walkthrough of docs/tools.md: its files do what it says, and it shows the files. */
import { mkdtempDisposable, readFile, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Plan } from '../../core/saga/model/plan.ts';
import { holdSeat, seats } from '../../examples/client/own-tools.ts';
import { bookRoom } from '../../examples/first-tool/book-room.ts';
import { openHotel } from '../../examples/first-tool/hotel.ts';
import { openFileTombstones, toolHandler } from '../../kit/index.ts';
import {
  describeCases,
  type InteractiveScript,
  SagaUnsafe,
  testSaga,
  testToolIsSafe,
} from '../../kit/testing/index.ts';
import { requestOf } from '../support/tool-requests.ts';

const PROJECT = join(import.meta.dirname, '../..');

test('the tool is safe to run in a saga', async () => {
  const hotel = openHotel();
  const checks = await testToolIsSafe(bookRoom(hotel), {
    arguments: { nights: 2 },
    observe: () => hotel.bookings(),
  });
  expect(checks.length).toBeGreaterThan(14);
});

test('what the provider shows may be told at once, without a promise', async () => {
  const held = { tool: 'hold_seat', arguments: { seat: '12A' } };
  await testToolIsSafe(holdSeat, { arguments: held.arguments, observe: () => [...seats] });
  const cases = await testSaga({ steps: [{ id: 'seat', ...held }] }, [holdSeat], {
    standing: (sagaId) => (seats.has(`${sagaId}:0`) ? ['seat'] : []),
  });
  expect(cases.length).toBeGreaterThan(14);
});

const trip: Plan = {
  steps: [
    { id: 'first', tool: 'book_room', arguments: { nights: 2 } },
    { id: 'second', tool: 'book_room', arguments: { nights: '{% input.nights %}' } },
  ],
};

/** Which steps of a saga have a room, by the note of the booking: `<saga>:<step index>`. */
const standingAt = (hotel: ReturnType<typeof openHotel>) => async (sagaId: string) =>
  (await hotel.bookings()).flatMap(({ note }) => {
    const index = note.startsWith(`${sagaId}:`) ? Number(note.slice(sagaId.length + 1)) : Number.NaN;
    const id = trip.steps[index]?.id;
    return id === undefined ? [] : [id];
  });

describe('a saga of it', () => {
  test('ends all done or all undone, whatever fails at whichever step', async () => {
    const hotel = openHotel();
    const cases = await testSaga(trip, [bookRoom(hotel)], {
      input: { nights: 3 },
      standing: standingAt(hotel),
    });
    expect(cases.length).toBeGreaterThanOrEqual(39);
    expect(new Set(cases.map(({ failure }) => failure)).size).toBeGreaterThanOrEqual(12);
    const statuses = new Set(cases.map(({ status }) => status));
    expect(statuses).toContain('COMPLETED');
    expect(statuses).toContain('COMPENSATED');
    expect(describeCases(cases)).toContain(
      'execute of first dies after the effect, before the record: COMPLETED',
    );
  });

  test('names step and failure where a compensator forgets what it cannot see', async () => {
    const hotel = openHotel();
    const forgetful = bookRoom({ ...hotel, cancel: async () => undefined });
    const found = testSaga(trip, [forgetful], {
      input: { nights: 3 },
      standing: standingAt(hotel),
      failures: ['dies after the effect, before the record'],
    });
    await expect(found).rejects.toBeInstanceOf(SagaUnsafe);
    await expect(found).rejects.toThrow(/compensate of first .*\n\s+first stands and is not listed/);
  });
});

test('an agent that decides as it goes is played as docs/tools.md shows it', async () => {
  const hotel = openHotel();
  const script: InteractiveScript = {
    submit: [
      { id: 'long', tool: 'book_room', arguments: { nights: 31 }, outcome: 'rejected' },
      {
        id: 'short',
        tool: 'book_room',
        arguments: ({ long }) => ({ nights: long?.error?.name === 'TooLong' ? 30 : 1 }),
      },
    ],
  };
  const standing = async (sagaId: string) => (await hotel.findByNote(`${sagaId}:1`)).map(() => 'short');
  const cases = await testSaga(script, [bookRoom(hotel)], { standing });
  expect(describeCases(cases)).toContain('execute of short');
});

test('a failure that is none is refused by name', async () => {
  const found = testSaga(trip, [bookRoom(openHotel())], { failures: ['explodes'] });
  await expect(found).rejects.toThrow('there is no explodes; choose from dies before the intent is recorded');
});

test('tombstones and claims outlive the server', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-first-tool-'));
  const before = await openFileTombstones(directory.path);
  await before.bury('s:0');
  expect(await Promise.all([before.claim?.('s:1', 1), before.claim?.('s:1', 1)])).toEqual(
    expect.arrayContaining([true, false]),
  );
  const hotel = openHotel();
  const handle = toolHandler([bookRoom(hotel)], { tombstones: await openFileTombstones(directory.path) });
  const about = { tool: 'book_room', version: '1.0.0', arguments: { nights: 1 } };
  expect(await handle(requestOf(about))).toMatchObject({ outcome: 'rejected', error: { name: 'Fenced' } });
  const again = requestOf({ ...about, forwardKey: 's:1', idempotencyKey: 's:1' });
  expect(await handle(again)).toMatchObject({ outcome: 'unknown', error: { name: 'DeliveredTwice' } });
  expect(await hotel.bookings()).toEqual([]);
});

test('what cannot be looked up is not taken for free: the tool is not asked', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'walkback-first-tool-'));
  const path = join(directory.path, 'tombstones');
  const tombstones = await openFileTombstones(path);
  await tombstones.bury('s:0');
  await rename(path, join(directory.path, 'elsewhere'));
  await writeFile(path, 'no directory');
  await expect(tombstones.isBuried('s:0')).rejects.toMatchObject({ code: 'ENOTDIR' });
  const hotel = openHotel();
  const handle = toolHandler([bookRoom(hotel)], { tombstones });
  const about = { tool: 'book_room', version: '1.0.0', arguments: { nights: 1 } };
  // Nobody can say whether another delivery of this attempt acts.
  expect(await handle(requestOf(about))).toMatchObject({ outcome: 'unknown', error: { name: 'Error' } });
  expect(await hotel.bookings()).toEqual([]);
});

test('docs/tools.md shows each file as it is', async () => {
  const text = await readFile(join(PROJECT, 'docs/tools.md'), 'utf8');
  const shown = [...text.matchAll(/```ts (examples\/\S+)\n([\s\S]*?)```/g)];
  expect(shown.map(([, path = '']) => path).toSorted()).toEqual(
    ['book-room', 'catalog', 'local-key', 'server', 'start'].map((name) => `examples/first-tool/${name}.ts`),
  );
  // What it says of imports holds in a checkout and with the packages.
  expect([...text.matchAll(/from '(\.\.\/[^']+)'/g)].map(([, path]) => path)).toEqual([]);
  for (const [, path = '', code] of shown)
    expect(await readFile(join(PROJECT, path), 'utf8'), path).toBe(code);
});
