/** The real MCP client over stdio, `walkback mcp` as a process before a real server, and a loop that plays the script. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Act, Host, ScriptedCall } from '../integration-conformance.ts';

const LAUNCHER = join(import.meta.dirname, '../../../bin/walkback.mjs');
const UPSTREAM = join(import.meta.dirname, 'mcp-upstream.ts');

interface ActServer extends AsyncDisposable {
  url: string;
}

export const serveAct = async (act: Act): Promise<ActServer> => {
  const server = createServer((request, response) => {
    const gone = new AbortController();
    response.on('close', () => {
      if (!response.writableFinished) gone.abort();
    });
    text(request)
      .then((body) => act(JSON.parse(body), gone.signal))
      .then(
        (said) => response.end(said),
        () => response.destroy(),
      );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of a server that listens on a port
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

export interface Connected extends AsyncDisposable {
  client: Client;
  stderr: () => string;
}

/** `walkback mcp` with these words, over the data directory of a cloud. */
export const connectMcp = async (
  dataDir: string,
  words: readonly string[],
  more: { env?: Record<string, string>; cwd?: string } = {},
): Promise<Connected> => {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [LAUNCHER, 'mcp', ...words],
    env: { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', WALKBACK_DATA: dataDir, ...more.env },
    stderr: 'pipe',
    ...(more.cwd === undefined ? {} : { cwd: more.cwd }),
  });
  let said = '';
  transport.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(transport);
  return { client, stderr: () => said, [Symbol.asyncDispose]: () => client.close() };
};

/** The same with the script's server behind it. */
export const connectWrapped = async (
  dataDir: string,
  words: readonly string[],
  act: Act,
): Promise<Connected> => {
  const server = await serveAct(act);
  const connected = await connectMcp(dataDir, [...words, '--', process.execPath, UPSTREAM], {
    env: { ACT_URL: server.url },
  });
  return {
    ...connected,
    [Symbol.asyncDispose]: async () => {
      await connected.client.close();
      await server[Symbol.asyncDispose]();
    },
  };
};

export const callEdit = async (
  client: Client,
  call: ScriptedCall,
  signal?: AbortSignal,
  name = 'edit',
): Promise<string> => {
  const answer = await client.callTool(
    { name, arguments: { ...call }, _meta: { 'claudecode/toolUseId': call.id } },
    { ...(signal === undefined ? {} : { signal }), timeout: 300_000 },
  );
  return JSON.stringify(answer);
};

export const mcpProxy = (dataDirOf: () => string): Host => ({
  name: 'walkback mcp before a server',
  // A subagent of a client calls over the client's connection.
  subagent: 'covered',
  ownMessageIds: /^mcp-/,
  noTurns: 'the protocol does not say when a turn ends',
  noToolSignal: 'the tool is told by a message, a moment later: mcp.long.test.ts waits for it',
  // Nothing in the protocol ends a client's loop; every further tool is refused.
  mostModelCalls: 4,
  play: async ({ session, steps, act, onCheckpointError, signal }) => {
    const words = ['--session', session.sessionId, '--on-checkpoint-error', onCheckpointError];
    await using connected = await connectWrapped(dataDirOf(), words, act);
    let modelCalls = 0;
    const told: string[] = [];
    try {
      for (const calls of steps) {
        modelCalls += 1;
        signal?.throwIfAborted();
        told.push(...(await Promise.all(calls.map((call) => callEdit(connected.client, call, signal)))));
      }
      modelCalls += 1;
      return { modelCalls, told: told.join('\n') };
    } catch (error) {
      return { modelCalls, error, told: [...told, String(error)].join('\n') };
    }
  },
});
