/** What the server of tools says when it fails: the reason to its author, nothing of it to the caller. */
import { mkdtempDisposable, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { inspect } from 'node:util';
import { expect, test, vi } from 'vitest';
import * as z from 'zod';
import { sagaTools, Walkback } from '../../client/index.ts';
import { type ServedTools, serveTools } from '../../client/serve-tools.ts';
import type { ToolRequest } from '../../contract/tool-request.ts';
import { SIGNATURE_HEADER, signatureHeader } from '../../core/saga/tools/http-signature.ts';
import { bookRoom } from '../../examples/first-tool/book-room.ts';
import { openHotel } from '../../examples/first-tool/hotel.ts';
import { defineTool } from '../../kit/define-tool.ts';
import { ToolRejected } from '../../kit/outcomes.ts';
import { startTestCloud } from '../support/cloud.ts';
import { requestOf } from '../support/tool-requests.ts';

test('why a call failed is told to the author of the tools, and not to the caller', async () => {
  await using directory = await mkdtempDisposable(`${tmpdir()}/walkback-failing-`);
  const deployed = { url: 'https://tools.example.com/tools', key: 'a key' };
  const failures: unknown[] = [];
  const served = await serveTools([bookRoom(openHotel())], {
    walkback: new Walkback({ dataDir: directory.path }),
    directory: directory.path,
    deployed,
    onError: (error) => {
      failures.push(error);
      throw new Error('of onError itself');
    },
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
    expect((await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body })).status).toBe(500);
  } finally {
    await served.close();
  }
});

test('what a tool throws is told to its author, and to the model only what the tool means to tell', async () => {
  const cloud = await startTestCloud();
  const walkback = new Walkback({ dataDir: cloud.dataDir });
  const SECRET = 'connection refused: postgres://hotel:secret@db';
  const failures: unknown[] = [];
  const look = defineTool({
    name: 'look',
    version: '1.0.0',
    description: 'Looks',
    effect: 'read',
    input: z.strictObject({ at: z.string() }),
    output: z.object({}),
    execute: async ({ at }) => {
      if (at === 'the pool') throw new ToolRejected('NoSuchPlace', 'There is no pool.');
      throw Object.assign(new RangeError(SECRET), at === 'the lobby' ? { name: SECRET } : {});
    },
  });
  try {
    const served = await serveTools([look], { walkback, onError: (error) => void failures.push(error) });
    const saga = await walkback.sagas.interactive();
    const { look: ofModel } = sagaTools([look], saga);
    const told = (at: string): Promise<unknown> | undefined =>
      ofModel?.execute({ at }).catch((error: unknown) => error);
    expect(await told('the pool')).toMatchObject({
      name: 'NoSuchPlace',
      message: 'look: Nothing happened. NoSuchPlace: There is no pool.',
    });
    expect(failures, 'what is meant for the model').toEqual([]);
    for (const [at, name] of [
      ['the bar', 'RangeError'],
      ['the lobby', 'ToolError'],
    ] as const) {
      const error = await told(at);
      expect(error).toMatchObject({ name, message: expect.stringContaining('The tool failed') });
      expect(inspect(error)).not.toContain('secret');
      expect(failures.splice(0)).toContainEqual(expect.objectContaining({ message: SECRET }));
    }
    await served.close();
  } finally {
    await walkback.close();
    await cloud.close();
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

const toolNamed = (name: string, done: string[]) =>
  defineTool({
    name,
    version: '1.0.0',
    description: 'Pays',
    effect: 'compensatable',
    idempotencyWindowSeconds: 86_400,
    input: z.strictObject({}),
    output: z.strictObject({}),
    execute: async () => {
      done.push(name);
      return {};
    },
    compensate: { name: `undo_${name}`, execute: async () => undefined },
  });

test('a tool stays where it was stored when tools are added or taken away, and no process may take its port', async () => {
  const cloud = await startTestCloud();
  const walkback = new Walkback({ dataDir: cloud.dataDir });
  const done: string[] = [];
  const tools = { pay: toolNamed('pay', done), ship: toolNamed('ship', done), tell: toolNamed('tell', done) };
  const endpoints = (served: ServedTools) => served.catalog.tools.map(({ endpoint }) => endpoint);
  try {
    const paying = await serveTools([tools.pay], { walkback });
    const shipping = await serveTools([tools.ship], { walkback });
    await expect(serveTools([tools.pay, tools.tell], { walkback })).rejects.toMatchObject({
      name: 'ConfigurationError',
      message: expect.stringContaining('give these tools a new version') as string,
    });
    await paying.close();
    await shipping.close();
    expect(paying.url).not.toBe(shipping.url);

    const all = await serveTools([tools.ship, tools.tell, tools.pay], { walkback });
    expect([paying.url, shipping.url]).toContain(all.url);
    expect(endpoints(all)).toEqual([shipping.url, all.url, paying.url]);
    for (const tool of ['pay', 'ship', 'tell']) {
      const { step } = await walkback.tools.call({ tool, version: '1.0.0', arguments: {} });
      expect([tool, step.status]).toEqual([tool, 'committed']);
    }
    expect(done).toEqual(['pay', 'ship', 'tell']);
    await all.close();

    const fewer = await serveTools([tools.ship], { walkback });
    expect(endpoints(fewer)).toEqual([shipping.url]);
    await fewer.close();
  } finally {
    await walkback.close();
    await cloud.close();
  }
});

test('a call that comes after its compensator is refused, also when the tool is served beside another by then', async () => {
  await using directory = await mkdtempDisposable(`${tmpdir()}/walkback-buried-`);
  const deployed = { url: 'https://tools.example.com/tools', key: 'a key' };
  const walkback = new Walkback({ dataDir: directory.path });
  const done: string[] = [];
  const [pay, ship] = [toolNamed('pay', done), toolNamed('ship', done)];
  const send = async (port: string, request: ToolRequest) => {
    const body = JSON.stringify(request);
    const seconds = Math.floor(Date.now() / 1000);
    const headers = {
      [SIGNATURE_HEADER]: signatureHeader(deployed.key, { seconds, url: deployed.url, body }),
    };
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body });
    return answer.json() as Promise<Record<string, unknown>>;
  };
  vi.stubEnv('WALKBACK_DATA', directory.path);
  try {
    for (const [tools, operation, outcome] of [
      [[pay], 'compensate', 'committed'],
      [[ship, pay], 'execute', 'rejected'],
    ] as const) {
      const served = await serveTools(tools, { walkback, deployed });
      const port = (await readFile(`${directory.path}/tools/pay/port`, 'utf8')).trim();
      const answer = await send(port, requestOf({ tool: 'pay', version: '1.0.0', operation, arguments: {} }));
      await served.close();
      expect(answer['outcome']).toBe(outcome);
    }
    expect(done).toEqual([]);
  } finally {
    vi.unstubAllEnvs();
  }
});
