/** Bundles sent and fetched by addresses: the lists that the functions write, the program that reads them, real curl, a server. */

import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { curlTransfers, type Transfer } from '../../adapters/git/curl.ts';
import { createRepositories } from '../../adapters/git/repositories.ts';
import { SANDBOX_REPORTS } from '../../contract/sandbox/reports.ts';
import { sha256Hex } from '../../core/shared/ids.ts';
import { captureRequest } from '../support/capture-request.ts';
import { processSandbox } from '../support/process-sandbox.ts';
import { runSync } from '../support/run-sync.ts';
import { programHere } from '../support/sandbox-program.ts';

const ENV = { PATH: process.env['PATH'] ?? '' };

/** A server, and a projects root. */
const place = async (answer: (request: IncomingMessage, response: ServerResponse) => void) => {
  const root = mkdtempSync(join(tmpdir(), 'walkback-transfers-'));
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    rmSync(root, { recursive: true });
  });
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  /** A restore of nothing, for which this list is there. */
  const runList = async (list: string, env = ENV): Promise<string> => {
    const incoming = join(root, '.agent-shadow/in-s/c');
    mkdirSync(incoming, { recursive: true });
    writeFileSync(join(incoming, 'sources'), list);
    const command = {
      kind: 'restore' as const,
      sessionId: 's',
      call: 'c',
      maxFileBytes: 1,
      maxDepth: 1,
      lockWaitSeconds: 1,
      include: [],
      exclude: [],
      filesOnly: false,
      dryRun: false,
      allowConcurrentWriters: false,
      settle: false,
      fresh: false,
      targetTag: null,
      repositories: [],
    };
    const where = { projectsRoot: root, timeoutMs: 60_000 };
    const { outcome } = await programHere().call(
      processSandbox(env),
      command,
      SANDBOX_REPORTS.restore,
      where,
    );
    return outcome;
  };
  return { root, address, runList, run: (transfers: Transfer[]) => runList(curlTransfers(transfers)) };
};

/** What stands at an address is its path, and a bundle is named by its content. */
const fetched = (address: string, names: string[], sizeBytes = 1): Transfer[] =>
  names.map((name) => ({
    url: `${address}/${name}`,
    sizeBytes,
    output: `${sha256Hex(`content of /${name}`)}.bundle`,
  }));

const refused = (message: string) => ({
  name: 'SandboxUnavailable',
  retryable: true,
  message: expect.stringContaining(message),
});

test('four are under way at once, and all arrive', async () => {
  const waiting: (() => void)[] = [];
  let most = 0;
  let answered = 0;
  const { address, run } = await place(({ url }, response) => {
    waiting.push(() => {
      answered += 1;
      response.end(`content of ${url}`);
    });
    most = Math.max(most, waiting.length);
    // None is answered before four have asked: one after the other, they would wait forever.
    if (waiting.length === 4) for (const go of waiting.splice(0)) go();
  });
  expect(await run(fetched(address, ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']))).toBe('applied');
  expect([most, answered]).toEqual([4, 8]);
});

test('what arrives is another content than its name says, and is refused', async () => {
  const { address, run } = await place((_, response) => response.end('another content'));
  await expect(run(fetched(address, ['a']))).rejects.toMatchObject({ name: 'BundleCorrupt' });
});

test.for([[['refused', 'a', 'b', 'c']], [['a', 'b', 'c', 'refused']]])(
  'one that fails is told, and the others are asked for: %s',
  async ([names = []]) => {
    const asked: string[] = [];
    const { address, run } = await place(({ url = '' }, response) => {
      asked.push(url);
      response.writeHead(url === '/refused' ? 403 : 200).end(`content of ${url}`);
    });
    await expect(run(fetched(address, names))).rejects.toMatchObject(refused('403'));
    expect(asked.toSorted()).toEqual(['/a', '/b', '/c', '/refused']);
  },
);

test('one that fails is not hidden by the next of its list', async () => {
  const { address, run } = await place(({ url }, response) =>
    response.writeHead(url === '/gone' ? 404 : 200).end(`content of ${url}`),
  );
  // The large ones take the other lists, so that the small ones share one.
  const large = fetched(address, ['x', 'y', 'z'], 1000);
  await expect(run([...large, ...fetched(address, ['gone', 'there'])])).rejects.toMatchObject(refused('404'));
});

test('without curl the caller is told so, and where there is nothing to fetch it is not needed', async () => {
  const { address, root, runList } = await place((_, response) => response.end());
  const withoutCurl = { PATH: root };
  await expect(runList(curlTransfers(fetched(address, ['a'])), withoutCurl)).rejects.toMatchObject({
    ...refused('has no curl'),
    details: { said: 'CurlMissing' },
  });
  expect(await runList(curlTransfers([]), withoutCurl)).toBe('applied');
});

test('a list that was cut short is not begun', async () => {
  let asked = 0;
  const { address, runList } = await place(({ url }, response) => {
    asked += 1;
    response.end(`content of ${url}`);
  });
  const whole = curlTransfers(fetched(address, ['a', 'b']));
  for (const list of ['', whole.slice(0, -'# end\n'.length), whole.slice(0, -1)])
    await expect(runList(list)).rejects.toMatchObject(refused('the list of transfers is not whole'));
  expect(asked).toBe(0);
  expect(await runList(whole)).toBe('applied');
  expect(asked).toBe(2);
});

test('bundles are sent with their headers, each as its digest says', async () => {
  const got: string[] = [];
  const { address, root } = await place((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const sent = sha256Hex(Buffer.concat(parts));
      got.push(`${request.method} ${request.url} ${String(request.headers['x-sum'])} ${sent}`);
      response.end('answers go nowhere');
    });
  });
  for (const name of ['one', 'two', 'three']) {
    runSync('git', ['init', '-q', name], { cwd: root, env: ENV });
    writeFileSync(join(root, name, 'file'), `of ${name}`);
  }
  const expected: string[] = [];
  const repositories = createRepositories(programHere());
  const request = captureRequest(root, 's', { maxInlineBytes: 0 });
  const { bundles } = await repositories.capture(
    processSandbox(ENV),
    request,
    ({ sha256, repositoryPath }) => {
      expected.push(`PUT /put?a="${repositoryPath}" "${repositoryPath}\\ ${sha256}`);
      const url = `${address}/put?a="${repositoryPath}"`;
      return Promise.resolve({ url, headers: { 'x-sum': `"${repositoryPath}\\` } });
    },
  );
  expect(bundles).toHaveLength(3);
  expect(got.toSorted()).toEqual(expected.toSorted());
});
