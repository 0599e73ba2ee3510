/** `walkback mcp` as a process, with the real client of MCP and a real server behind it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openClientWorld } from '../support/client-world.ts';
import { callEdit, connectMcp, connectWrapped, mcpProxy } from '../support/hosts/mcp.ts';
import { conformance, edit } from '../support/integration-conformance.ts';
import { shared } from '../support/shared.ts';

const LAUNCHER = join(import.meta.dirname, '../../bin/walkback.mjs');
const world = shared(openClientWorld);
const dataDirOf = () => world().cloud.dataDir;

describe.each([mcpProxy(dataDirOf)])('$name', (host) => conformance(host, world));

test('a call that the client takes back: while it waits it never runs, later its server is told', async () => {
  const { walkback, root } = world();
  const session = await walkback.sessions.start({ root });
  const aborted = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const ran: string[] = [];
  await using connected = await connectWrapped(
    dataDirOf(),
    ['--session', session.sessionId],
    async (call, signal) => {
      ran.push(call.id);
      if (call.id !== 'slow') return 'done';
      begun.resolve();
      signal?.addEventListener('abort', () => aborted.resolve());
      await aborted.promise;
      return 'too late';
    },
  );
  const early = new AbortController();
  const taken = callEdit(connected.client, edit('early'), early.signal);
  early.abort(new Error('enough'));
  await expect(taken).rejects.toThrow('enough');
  const late = new AbortController();
  const slow = callEdit(connected.client, edit('slow'), late.signal);
  await begun.promise;
  late.abort(new Error('enough too'));
  await expect(slow).rejects.toThrow('enough too');
  await aborted.promise;
  expect(await callEdit(connected.client, edit('next'))).toContain('done');
  expect(ran).toEqual(['slow', 'next']);
  await session.end();
});

test('tools that are named as reads have no checkpoint; the others of that server have', async () => {
  const { walkback, root } = world();
  const session = await walkback.sessions.start({ root });
  const words = ['--session', session.sessionId, '--reads', 'look'];
  await using connected = await connectWrapped(dataDirOf(), words, async () => 'done');
  const { tools } = await connected.client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['edit', 'look']);
  expect(await callEdit(connected.client, edit('call-1'), undefined, 'look')).toContain('done');
  expect((await session.timeline()).checkpoints).toHaveLength(1);
  expect(await callEdit(connected.client, edit('call-2'))).toContain('done');
  expect((await session.timeline()).checkpoints).toHaveLength(2);
  await session.end();
});

const toolText = async (
  client: Awaited<ReturnType<typeof connectMcp>>['client'],
  name: string,
  input: Record<string, unknown> = {},
): Promise<string> => {
  const { content } = await client.callTool({ name, arguments: input });
  const [first] = content;
  return first?.type === 'text' ? first.text : '';
};

test('its own tools: a checkpoint, a plan, exactly that plan, and the undo of it', async () => {
  const { walkback, root } = world();
  const write = (path: string, text: string) => world().write(path, text);
  const read = (path: string) => world().read(path);
  write('api/file.txt', 'as it was\n');
  await using connected = await connectMcp(dataDirOf(), ['--root', root]);
  const { client } = connected;
  expect(client.getInstructions()).toContain('does not see calls of other tools');
  const { checkpointId } = JSON.parse(await toolText(client, 'checkpoint', { reason: 'before a change' }));
  write('api/file.txt', 'changed\n');
  expect(await toolText(client, 'diff', { from: checkpointId })).toContain('+changed');
  expect(await toolText(client, 'rollback', { planId: 'none' })).toContain('call plan first');
  const { planId, repositories } = JSON.parse(await toolText(client, 'plan', { to: checkpointId }));
  expect(JSON.stringify(repositories)).toContain('file.txt');
  expect(read('api/file.txt')).toBe('changed\n');
  await toolText(client, 'rollback', { planId });
  expect(read('api/file.txt')).toBe('as it was\n');
  await toolText(client, 'undo');
  expect(read('api/file.txt')).toBe('changed\n');
  const listed = JSON.parse(await toolText(client, 'list', { limit: 200 }));
  expect(listed.map(({ reason }: { reason: string }) => reason)).toContain('before a change');
  const { sessionId } = (await walkback.sessions.list()).find(({ status }) => status === 'active') ?? {};
  expect(sessionId).toBeDefined();
  await walkback.sessions.end(sessionId ?? '');
  write('api/file.txt', 'as it was\n');
});

test('texts pass as they are, also with what some programs take for the end of a line', async () => {
  const { walkback, root } = world();
  const session = await walkback.sessions.start({ root });
  const heard: string[] = [];
  await using connected = await connectWrapped(
    dataDirOf(),
    ['--session', session.sessionId],
    async ({ text }) => {
      heard.push(text);
      return `said ${text}`;
    },
  );
  const odd = 'one\u2028two\u2029three\rfour\u0085five\nsix';
  const said = await callEdit(connected.client, { ...edit('odd'), text: odd });
  expect(heard).toEqual([odd]);
  expect(said).toContain(JSON.stringify(`said ${odd}`));
  await session.end();
});

test('the session of a directory is the one that works in it: no fork, and none that went on elsewhere', async () => {
  const { walkback, root } = world();
  const here = await walkback.sessions.start({ root });
  const { session: fork } = await here.fork();
  const moved = await walkback.sessions.start({ root });
  await moved.rehydrate({ mode: 'resume' });
  await using connected = await connectMcp(dataDirOf(), ['--root', root]);
  const { checkpointId } = JSON.parse(await toolText(connected.client, 'checkpoint'));
  const { checkpoints } = await here.timeline({ limit: 1 });
  expect(checkpoints[0]?.checkpointId).toBe(checkpointId);
  await here.rollback({ to: checkpointId });
  // Somebody rolled back: told once, and whoever reads where the session stands goes on.
  expect(await toolText(connected.client, 'checkpoint')).toContain('StaleEpoch');
  expect(await toolText(connected.client, 'list')).toContain(checkpointId);
  expect(JSON.parse(await toolText(connected.client, 'checkpoint'))).toMatchObject({ epoch: 2 });
  await fork.end({ discard: true });
  for (const session of [here, moved]) await session.end();
});

test('what a server still writes when its client goes is in the last checkpoint', async () => {
  const { walkback, root } = world();
  const session = await walkback.sessions.start({ root });
  const script = `read -r line; echo '{"jsonrpc":"2.0","id":1,"result":{}}'; cat >/dev/null; echo late >'${root}/api/late.txt'`;
  const words = ['mcp', '--session', session.sessionId, '--', 'bash', '-c', script];
  const child = spawn(process.execPath, [LAUNCHER, ...words], {
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', WALKBACK_DATA: dataDirOf() },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"edit"}}\n');
  const ended = once(child, 'exit');
  expect(String((await once(child.stdout, 'data'))[0])).toContain('"result"');
  child.stdin.end();
  expect(await ended).toEqual([0, null]);
  expect(world().read('api/late.txt')).toBe('late\n');
  const { repositories } = await session.diff({ from: 'head', to: 'now' });
  expect(repositories.map(({ files }) => files)).toEqual([0, 0]);
  rmSync(`${root}/api/late.txt`);
  await session.end();
});

test('a server that does not start is told by its name', async () => {
  await expect(connectMcp(dataDirOf(), ['--', '/nonexistent/server'])).rejects.toThrow();
});
