/** What passes between a client and a server of MCP, line by line. The real ones are in mcp.long.test.ts. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createProxy } from '../../cli/mcp/proxy.ts';
import type { ToolCall } from '../../client/index.ts';
import { PROJECT } from '../../local/template.ts';

const setUp = (decide: (call: ToolCall) => Promise<void>) => {
  const toServer: string[] = [];
  const toClient: string[] = [];
  const calls: ToolCall[] = [];
  const take = createProxy({
    connectionId: 'mcp-1',
    reads: new Set(['look']),
    guard: {
      before: (call) => {
        calls.push(call);
        return decide(call);
      },
      finish: async () => undefined,
    },
    toServer: (line) => void toServer.push(line),
    toClient: (line) => void toClient.push(line),
  });
  return { take, toServer, toClient, calls };
};

const settled = () => new Promise((resolve) => setImmediate(resolve));

const call = (id: number | string, name = 'edit', meta?: object) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: { path: 'a' }, ...(meta === undefined ? {} : { _meta: meta }) },
});

test.each([
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"future":true}}',
  '{"jsonrpc":"2.0","method":"notifications/initialized"}',
  '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}',
  '{"jsonrpc": "2.0", "id": 4, "result": {"action":"accept"}}',
  'null',
])('passes on as it is: %s', (line) => {
  const { take, toServer, calls } = setUp(async () => undefined);
  take(line);
  expect(toServer).toEqual([line]);
  expect(calls).toEqual([]);
});

test('a call waits for its checkpoint while others pass', async () => {
  const gate = Promise.withResolvers<void>();
  const { take, toServer, calls } = setUp(() => gate.promise);
  const line = JSON.stringify(call(3, 'edit', { 'claudecode/toolUseId': 'toolu_1', other: 1 }));
  take(line);
  take(JSON.stringify(call(4, 'look')));
  take('{"jsonrpc":"2.0","id":5,"method":"ping"}');
  await settled();
  expect(toServer).toEqual(['{"jsonrpc":"2.0","id":5,"method":"ping"}']);
  gate.resolve();
  await settled();
  expect(toServer.slice(1)).toEqual([line, JSON.stringify(call(4, 'look'))]);
  expect(calls).toEqual([
    { id: 'toolu_1', name: 'edit', input: { path: 'a' }, readOnly: false },
    { id: 'mcp-1-4', name: 'look', input: { path: 'a' }, readOnly: true },
  ]);
});

test('a number and the text of that number are the ids of two calls', async () => {
  const { take, toServer, calls } = setUp(async () => undefined);
  const lines = [1, '1', 2, '2', '"2"'].map((id) => JSON.stringify(call(id)));
  for (const line of lines) take(line);
  await settled();
  expect(toServer).toEqual(lines);
  expect(new Set(calls.map(({ id }) => id)).size).toBe(lines.length);
});

test('an id that comes again is another call, with a checkpoint of its own', async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { take, toServer, toClient, calls } = setUp(async () => gates[calls.length - 1]?.promise);
  const lines = ['edit', 'write', 'edit'].map((name) => JSON.stringify(call(3, name)));
  take(lines[0] ?? '');
  take(lines[1] ?? '');
  for (const gate of gates) gate.resolve();
  await settled();
  take(lines[2] ?? '');
  await settled();
  expect(toServer).toEqual(lines);
  expect(toClient).toEqual([]);
  expect(new Set(calls.map(({ id }) => id)).size).toBe(lines.length);
});

test('a call that is taken back takes every one of its id that waits', async () => {
  const gate = Promise.withResolvers<void>();
  const { take, toServer, toClient } = setUp(() => gate.promise);
  for (const name of ['edit', 'write']) take(JSON.stringify(call(3, name)));
  take(JSON.stringify(call(4)));
  take('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}');
  gate.resolve();
  await settled();
  expect([...toServer, ...toClient]).toEqual([JSON.stringify(call(4))]);
});

test.each(['', ' ', '\t', '\r'])('a line without a message, %j, is nothing to anybody', async (line) => {
  const { take, toServer, toClient } = setUp(async () => undefined);
  take(line);
  await settled();
  expect([...toServer, ...toClient]).toEqual([]);
});

test('without a checkpoint the server hears nothing and the client is told', async () => {
  const { take, toServer, toClient } = setUp(async () => {
    throw new TypeError('no room');
  });
  take(JSON.stringify(call(3)));
  await settled();
  expect(toServer).toEqual([]);
  expect(toClient.map((line) => JSON.parse(line))).toEqual([
    {
      jsonrpc: '2.0',
      id: 3,
      result: {
        isError: true,
        content: [{ type: 'text', text: expect.stringContaining('TypeError: no room') }],
      },
    },
  ]);
});

test('a call that is taken back while it waits runs nowhere and is not answered', async () => {
  const gate = Promise.withResolvers<void>();
  const { take, toServer, toClient } = setUp(() => gate.promise);
  take(JSON.stringify(call(3)));
  take('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}');
  gate.resolve();
  await settled();
  expect([...toServer, ...toClient]).toEqual([]);
});

test('calls among several messages in one line are held too', async () => {
  const { take, toServer, calls } = setUp(async () => undefined);
  take(JSON.stringify([call(1), { jsonrpc: '2.0', method: 'notifications/initialized' }, call(2)]));
  await settled();
  expect(calls.map(({ id }) => id)).toEqual(['mcp-1-1', 'mcp-1-2']);
  expect(toServer.map((line) => JSON.parse(line).method)).toEqual([
    'notifications/initialized',
    'tools/call',
    'tools/call',
  ]);
});

test('what is not JSON is not passed on: to some servers it is a call', async () => {
  const { take, toServer, toClient } = setUp(async () => undefined);
  take('{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"edit","arguments":{"x":NaN}}}');
  await settled();
  expect(toServer).toEqual([]);
  expect(JSON.parse(toClient[0] ?? '')).toMatchObject({ id: null, error: { code: -32700 } });
});

test('a call that does not look like one is still a call: it is refused, not passed on', async () => {
  const { take, toServer, toClient } = setUp(async () => undefined);
  take('{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":7}}');
  take('{"jsonrpc":"2.0","method":"tools/call","params":{"name":"edit"}}');
  await settled();
  expect(toServer).toEqual([]);
  expect(JSON.parse(toClient[0] ?? '')).toMatchObject({ id: 9, error: { code: -32602 } });
});

test.each([
  ['process.exit(3)', 3, 'ended with 3.'],
  ["process.kill(process.pid, 'SIGKILL')", 137, 'ended with SIGKILL.'],
  ['process.exit(0)', 0, 'ended with 0.'],
])('the end of the server, %s, is that of the command', async (program, exitCode, said) => {
  const words = [join(PROJECT, 'bin/walkback.mjs'), 'mcp', '--', process.execPath, '-e', program];
  const ended = await new Promise<{ code: unknown; stderr: string }>((resolve) => {
    execFile(process.execPath, words, (error, _stdout, stderr) =>
      resolve({ code: error === null ? 0 : error.code, stderr }),
    );
  });
  expect(ended).toEqual({ code: exitCode, stderr: expect.stringContaining(said) });
});
