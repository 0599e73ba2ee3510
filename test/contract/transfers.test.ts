/** Bundles sent and fetched by addresses: the lists that the functions write, the shell that reads them, real curl, a server. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { curlTransfers, type Transfer } from '../../adapters/git/curl.ts';
import { sourced } from '../support/sandbox-program.ts';

const SCRIPT = `set -- "$PATH" /nowhere
${sourced('shared/lib', 'shared/transfer')}slurp list
transfer log`;

/** A server, a directory, and the transfers made in it: the exit of bash, and what curl said. */
const place = async (answer: (request: IncomingMessage, response: ServerResponse) => void) => {
  const directory = mkdtempSync(join(tmpdir(), 'walkback-transfers-'));
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(directory, { recursive: true });
  });
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const read = (name: string): string => readFileSync(join(directory, name), 'utf8');
  const runList = (
    list: string,
    env = { PATH: process.env['PATH'] },
  ): Promise<{ status: number; said: string }> => {
    writeFileSync(join(directory, 'list'), list);
    return new Promise((resolve) => {
      const child = execFile('/bin/bash', ['--norc', '-c', SCRIPT], { cwd: directory, env }, () =>
        resolve({ status: child.exitCode ?? -1, said: read('log') }),
      );
    });
  };
  const run = (transfers: Transfer[]) => runList(curlTransfers(transfers));
  const runWithoutCurl = (transfers: Transfer[]) => runList(curlTransfers(transfers), { PATH: directory });
  return { directory, address, read, run, runList, runWithoutCurl };
};

const fetched = (address: string, names: string[], sizeBytes = 1): Transfer[] =>
  names.map((name) => ({ url: `${address}/${name}`, sizeBytes, output: name }));

test('four are under way at once, and all arrive', async () => {
  const waiting: (() => void)[] = [];
  let most = 0;
  const { address, read, run } = await place(({ url }, response) => {
    waiting.push(() => response.end(`content of ${url}`));
    most = Math.max(most, waiting.length);
    // None is answered before four have asked: one after the other, they would wait forever.
    if (waiting.length === 4) for (const go of waiting.splice(0)) go();
  });
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  expect(await run(fetched(address, names))).toEqual({ status: 0, said: '' });
  expect(names.map(read)).toEqual(names.map((name) => `content of /${name}`));
  expect(most).toBe(4);
});

test('files are sent with their headers', async () => {
  const got: string[] = [];
  const { address, directory, run } = await place((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      got.push(
        `${request.method} ${request.url} ${String(request.headers['x-sum'])} ${Buffer.concat(parts).toString()}`,
      );
      response.end('answers go nowhere');
    });
  });
  const names = ['0.base', '0.link', '1.link'];
  for (const name of names) writeFileSync(join(directory, name), `bytes of ${name}`);
  const transfers = names.map((name) => ({
    url: `${address}/put?a="${name}"`,
    headers: { 'x-sum': `"${name}\\` },
    sizeBytes: 1,
    upload: name,
  }));
  expect(await run(transfers)).toEqual({ status: 0, said: '' });
  expect(got.toSorted()).toEqual(names.map((name) => `PUT /put?a="${name}" "${name}\\ bytes of ${name}`));
});

test('one that fails is told, and the others arrive', async () => {
  const { address, read, run } = await place(({ url }, response) =>
    response.writeHead(url === '/refused' ? 403 : 200).end('content'),
  );
  for (const names of [
    ['refused', 'a', 'b', 'c'],
    ['a', 'b', 'c', 'refused'],
  ]) {
    const { status, said } = await run(fetched(address, names));
    expect(status).toBe(22);
    expect(said).toContain('403');
    for (const name of ['a', 'b', 'c']) expect(read(name)).toBe('content');
  }
});

test('one that fails is not hidden by the next of its list', async () => {
  const { address, run } = await place(({ url }, response) =>
    response.writeHead(url === '/gone' ? 404 : 200).end('content'),
  );
  // The large ones take the other lists, so that the small ones share one.
  const large = fetched(address, ['x', 'y', 'z'], 1000);
  const { status, said } = await run([...large, ...fetched(address, ['gone', 'there'])]);
  expect(status).toBe(22);
  expect(said).toContain('404');
});

test('without curl the reason is told, and where there is nothing to send it is not needed', async () => {
  const { address, runWithoutCurl } = await place((_, response) => response.end());
  const { status, said } = await runWithoutCurl(fetched(address, ['a', 'b']));
  expect(status).toBe(127);
  expect(said).toContain('curl: command not found');
  expect(await runWithoutCurl([])).toEqual({ status: 0, said: '' });
});

test('a list that was cut short is not begun', async () => {
  let asked = 0;
  const { address, runList } = await place((_, response) => {
    asked += 1;
    response.end();
  });
  const whole = curlTransfers(fetched(address, ['a', 'b']));
  for (const list of ['', whole.slice(0, -'# end\n'.length), whole.slice(0, -1)]) {
    expect(await runList(list)).toEqual({ status: 1, said: 'the list of transfers is not whole\n' });
  }
  expect(asked).toBe(0);
  expect((await runList(whole)).status).toBe(0);
  expect(asked).toBe(2);
});
