/** What the server of tools says when it fails: the reason to its author, nothing of it to the caller. */
import { mkdtempDisposable, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { Walkback } from '../../client/index.ts';
import { serveTools } from '../../client/serve-tools.ts';
import { SIGNATURE_HEADER, signatureHeader } from '../../core/saga/tools/http-signature.ts';
import { bookRoom } from '../../examples/first-tool/book-room.ts';
import { openHotel } from '../../examples/first-tool/hotel.ts';
import { startTestCloud } from '../support/cloud.ts';

test('why a call failed is told to the author of the tools, and not to the caller', async () => {
  await using directory = await mkdtempDisposable(`${tmpdir()}/walkback-failing-`);
  const deployed = { url: 'https://tools.example.com/tools', key: 'a key' };
  const failures: unknown[] = [];
  const served = await serveTools([bookRoom(openHotel())], {
    walkback: new Walkback({ dataDir: directory.path }),
    directory: directory.path,
    deployed,
    onError: (error) => void failures.push(error),
  });
  try {
    const port = (await readFile(`${directory.path}/port`, 'utf8')).trim();
    const body = '{ the secret of the hotel';
    const seconds = Math.floor(Date.now() / 1000);
    const signature = signatureHeader(deployed.key, { seconds, url: deployed.url, body });
    const headers = { [SIGNATURE_HEADER]: signature };
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body });
    expect([answer.status, await answer.text()]).toEqual([500, '']);
    expect(failures).toEqual([expect.any(SyntaxError)]);
  } finally {
    await served.close();
  }
});

test('what the tools need is kept in the directory of their cloud, where another cloud has its own', async () => {
  const cloud = await startTestCloud();
  const walkback = new Walkback({ dataDir: cloud.dataDir });
  try {
    const served = await serveTools([bookRoom(openHotel())], { walkback });
    try {
      expect(await readdir(`${cloud.dataDir}/tools/book_room`)).toEqual(['port', 'tombstones']);
    } finally {
      await served.close();
    }
  } finally {
    await walkback.close();
    await cloud.close();
  }
});
