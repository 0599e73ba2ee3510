/** `walkback mcp` as a process, with the real client of MCP and a real server behind it. */
import { describe, expect, test } from 'vitest';
import { callEdit, connectMcp, connectWrapped, mcpProxy } from '../support/hosts/mcp.ts';
import { sharedWorld } from '../support/hosts/world.ts';
import { conformance, edit } from '../support/integration-conformance.ts';

const world = sharedWorld();
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

test('a server that does not start is told by its name', async () => {
  await expect(connectMcp(dataDirOf(), ['--', '/nonexistent/server'])).rejects.toThrow();
});
