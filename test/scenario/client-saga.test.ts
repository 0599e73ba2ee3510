/** Sagas by the client: tools that are served with one call, and an agent's loop whose effects can be taken back. */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sagaTools } from '../../client/index.ts';
import { type ServedTools, serveTools } from '../../client/serve-tools.ts';
import { bookRoom } from '../../examples/first-tool/book-room.ts';
import { openHotel } from '../../examples/first-tool/hotel.ts';
import { type ClientWorld, openClientWorld } from '../support/client-world.ts';

let world: ClientWorld;
let served: ServedTools;
let directory: Awaited<ReturnType<typeof mkdtempDisposable>>;
const hotel = openHotel();
const tool = bookRoom(hotel);

beforeAll(async () => {
  world = await openClientWorld();
  directory = await mkdtempDisposable(`${tmpdir()}/walkback-served-`);
  served = await serveTools([tool], { walkback: world.walkback, directory: directory.path });
});
afterAll(async () => {
  await served.close();
  await directory.remove();
  await world[Symbol.asyncDispose]();
});

const SUBMIT = { method: 'POST', path: '/functions/walkback-submit-step/' };

test('the loop of an agent is a saga: calls side by side, a rejection that is told, and all of it taken back', async () => {
  const { walkback } = world;
  const session = await walkback.sessions.start({ root: world.root });
  await session.run({ message: { id: 'm-0' } }).finish();
  const run = session.run({ message: { id: 'm-1' } });
  const saga = await walkback.sagas.interactive({ run });
  const tools = sagaTools([tool], saga, { run });
  const book = (nights: number, toolCallId: string) =>
    tools['book_room']?.execute({ nights }, { toolCallId });
  expect(await Promise.all([book(1, 'call-1'), book(2, 'call-2'), book(1, 'call-1')])).toEqual([
    { bookingId: 'room-1' },
    { bookingId: 'room-2' },
    { bookingId: 'room-1' },
  ]);
  await expect(book(31, 'call-3')).rejects.toMatchObject({
    name: 'TooLong',
    message: expect.stringContaining('Nothing happened') as string,
  });
  expect((await hotel.bookings()).map(({ nights }) => nights)).toEqual([1, 2]);

  await run.finish();
  const plan = await session.plan({ to: 'm-0' });
  expect(plan.effects.map(({ tool: name, externalRef }) => `${name} ${externalRef}`)).toEqual([
    'book_room room-1',
    'book_room room-2',
  ]);
  expect((await walkback.ledger.verify(saga.sagaId)).findings).toEqual([]);
  const closed = await saga.close({ outcome: 'unwind' });
  expect(closed.status).toBe('COMPENSATED');
  expect(await hotel.bookings()).toEqual([]);
  await session.end();
});

test('a step whose answer is lost is asked for again, and books one room', async () => {
  const { walkback, proxy } = await world.through([
    { match: SUBMIT, at: 1, action: { kind: 'lose-answer' } },
  ]);
  const saga = await walkback.sagas.interactive();
  const submitted = await saga.submit({ stepId: 'one', tool: 'book_room', arguments: { nights: 3 } });
  expect(submitted.step.status).toBe('committed');
  expect(proxy.count(SUBMIT)).toBe(2);
  expect((await hotel.bookings()).filter(({ nights }) => nights === 3)).toHaveLength(1);
  await saga.close({ outcome: 'complete' });
});

test('one call of a tool is found in the catalog, the ledger and the list of sagas', async () => {
  const { tools, ledger, sagas } = world.walkback;
  const called = await tools.call({ requestId: 'single', tool: 'book_room', arguments: { nights: 4 } });
  expect(called.step.status).toBe('committed');
  expect((await tools.list()).tools.map(({ name }) => name)).toContain('book_room');
  const { sagaId } = called;
  const rows = await ledger.entries(sagaId ?? '');
  expect(rows.filter(({ status }) => status === 'committed')).toHaveLength(1);
  expect((await sagas.list()).map((one) => one.sagaId)).toContain(sagaId);
});

test('served again, the tools have the same URL, so the catalog still names them', async () => {
  await served.close();
  const { url } = served;
  served = await serveTools([tool], { walkback: world.walkback, directory: directory.path });
  expect(served.url).toBe(url);
  expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(401);
});

test('a session is parked with one checkpoint, however often the same request is made', async () => {
  const { walkback, cloud } = world;
  const session = await walkback.sessions.start({ root: world.root, sessionId: 'parked' });
  const run = session.run({ message: { id: 'm-1' } });
  await run.finish();
  const before = (await session.timeline()).checkpoints.find(({ messageId }) => messageId === 'm-1');
  const sagas = await Promise.all([0, 1].map(() => walkback.sagas.interactive({ run })));
  const park = (more: object = {}) =>
    cloud.invoke('park-saga', { sessionId: 'parked', summary: 'half', requestId: 'park-1', ...more });
  const taken = async () =>
    (await session.timeline()).checkpoints.flatMap(({ reason, checkpointId }) =>
      reason === 'parked' ? [checkpointId] : [],
    );

  const first = await park();
  expect(first['sagas']).toHaveLength(2);
  // The answer was lost, and somebody has written since.
  world.write('api/file.txt', 'since\n');
  await session.checkpoint({ messageId: 'm-2' });
  expect(await park()).toEqual(first);
  expect(await Promise.all([park(), park()])).toEqual([first, first]);
  expect(await taken()).toEqual([first['checkpointId']]);
  for (const saga of sagas) {
    const seen = await saga.describe();
    expect([seen.status, seen.interactive?.checkpointId]).toEqual(['PARKED', first['checkpointId']]);
  }
  await expect(park({ messageId: 'm-2' })).rejects.toMatchObject({ errorType: 'RequestConflict' });

  // Another request is another checkpoint; so is one without an id.
  const again = await park({ requestId: 'park-2' });
  await cloud.invoke('park-saga', { sessionId: 'parked', summary: 'half' });
  expect(await taken()).toHaveLength(3);
  expect(await taken()).toContain(again['checkpointId']);

  // What was saved before a rollback is not what is there now.
  const plan = await session.plan({ to: before?.checkpointId ?? '' });
  await plan.apply();
  await expect(park()).rejects.toMatchObject({ errorType: 'RequestConflict' });
  for (const saga of sagas) await saga.operate({ action: 'cancel', by: 'ada' });
  await session.end();
});
