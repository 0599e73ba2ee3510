/** The walkthrough of docs/tools.md on the embedded cloud: over HTTP, signed with the key of this machine. */

import { mkdtempDisposable } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { bookRoom } from '../../examples/first-tool/book-room.ts';
import { catalogFor } from '../../examples/first-tool/catalog.ts';
import { openHotel } from '../../examples/first-tool/hotel.ts';
import { localKey } from '../../examples/first-tool/local-key.ts';
import { serveTools } from '../../examples/first-tool/server.ts';
import { openFileTombstones } from '../../kit/file-tombstones.ts';
import { startTestCloud } from '../support/cloud.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { shared } from '../support/shared.ts';

const cloud = shared(startTestCloud);

test('a saga books a room by a tool on this machine, and whoever has no key is refused', async () => {
  await using directory = await mkdtempDisposable(`${tmpdir()}/walkback-first-tool-`);
  const hotel = openHotel();
  // The port first: the URL is signed, and so is the key made for it.
  const front = createServer();
  const url = `http://127.0.0.1:${await listenOnLoopback(front)}/tools`;
  const tombstones = await openFileTombstones(directory.path);
  const key = await localKey(url, cloud().environment);
  const server = serveTools({ tools: [bookRoom(hotel)], tombstones, url, key });
  front.on('request', (request, response) => server.emit('request', request, response));
  try {
    await cloud().invoke('put-catalog', catalogFor(url));
    const start = { definition: { name: 'trip' }, requestedBy: 'agent-7' };
    await cloud().invoke('start-saga', { ...start, sagaId: 'short', input: { nights: 2 } });
    const done = await cloud().invoke('describe-saga', { sagaId: 'short', waitSeconds: 40 });
    expect(done).toMatchObject({ status: 'COMPLETED', committed: [{ step: 'room', externalRef: 'room-1' }] });
    expect(await hotel.bookings()).toEqual([{ id: 'room-1', nights: 2, note: 'short:0' }]);
    await cloud().invoke('start-saga', { ...start, sagaId: 'long', input: { nights: 31 } });
    const refused = await cloud().invoke('describe-saga', { sagaId: 'long', waitSeconds: 40 });
    expect(refused).toMatchObject({ status: 'COMPENSATED', failed: { error: { name: 'TooLong' } } });
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(401);
  } finally {
    front.close();
  }
});
