/** `node examples/first-tool/start.ts`: serves the tool, and writes catalog.json beside its tombstones. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openFileTombstones } from 'walkback/kit';
import { bookRoom } from './book-room.ts';
import { catalogFor } from './catalog.ts';
import { openHotel } from './hotel.ts';
import { localKey } from './local-key.ts';
import { serveTools } from './server.ts';

const PORT = 8787;
const url = `http://127.0.0.1:${PORT}/tools`;
const key = process.env['TOOL_KEY'] ?? (await localKey(url));

const directory = process.env['TOOL_DATA'] ?? '.first-tool';
await mkdir(directory, { recursive: true });
await writeFile(join(directory, 'catalog.json'), `${JSON.stringify(catalogFor(url), undefined, 2)}\n`);
const tombstones = await openFileTombstones(join(directory, 'tombstones'));
serveTools({ tools: [bookRoom(openHotel())], tombstones, url, key }).listen(PORT, '127.0.0.1');
