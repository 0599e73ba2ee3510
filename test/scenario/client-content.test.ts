/** What the client says of messages and tools, and comparisons where the sandbox cannot make them. */
import { expect } from 'vitest';
import { Walkback } from '../../client/index.ts';
import { openClientWorld } from '../support/client-world.ts';
import { inTurn } from '../support/sampled-test.ts';
import { shared } from '../support/shared.ts';
import { sdkOf } from '../support/world.ts';

const test = inTurn('client-content');

const world = shared(openClientWorld);

const call = (id: string, input: unknown) => ({ id, name: 'Edit', input });

test('a run says its message once and each tool, as they are redacted, and no input keeps a tool from running', async () => {
  await using redacting = new AsyncDisposableStack();
  const walkback = new Walkback({
    dataDir: world().cloud.dataDir,
    redact: (text) => {
      if (text.includes('unspeakable')) throw new Error('cannot be redacted');
      return text.replaceAll('hunter2', '***');
    },
  });
  redacting.defer(() => walkback.close());
  const session = await walkback.sessions.start({ root: world().root });
  const first = session.run({ message: { id: 'msg-1', text: 'Use hunter2\nto log in' } });
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  await first.guard(call('c1', { password: 'hunter2' }), () => world().write('api/file.txt', 'one\n'));
  await first.guard(call('c2', circular), () => world().write('api/file.txt', 'two\n'));
  await first.guard(call('c3', 'unspeakable'), () => world().write('api/file.txt', 'three\n'));
  await first.finish();
  const second = session.run({
    message: { id: 'msg-2', role: 'assistant', title: 'Next', text: 'y'.repeat(50_000) },
  });
  await second.guard(call('c4', { n: 1n }), () => world().write('web/new.txt', 'new\n'));
  await second.finish();

  const { messages } = await session.timeline();
  expect(messages).toMatchObject([
    { messageId: 'msg-1', role: 'user', title: 'Use ***' },
    { messageId: 'msg-2', role: 'assistant', title: 'Next' },
  ]);
  const { checkpoints } = await session.changes({ messageId: 'msg-1' });
  expect(checkpoints.map(({ message }) => message?.text)).toEqual([
    'Use ***\nto log in',
    ...Array.from({ length: checkpoints.length - 1 }, () => undefined),
  ]);
  expect(checkpoints.flatMap(({ tool }) => tool ?? [])).toEqual([
    { name: 'Edit', input: '{"password":"***"}', truncated: false },
    { name: 'Edit', truncated: false },
    { name: 'Edit', truncated: false },
    { name: 'Edit', truncated: false },
  ]);
  const last = (await session.changes({ messageId: 'msg-2' })).checkpoints.at(-1);
  expect(last?.message).toMatchObject({ truncated: true });
  expect(last?.message?.text).toHaveLength(16 * 1024);
  expect(last?.repositories).toMatchObject([{ path: 'web', files: [{ path: 'new.txt', change: 'added' }] }]);
  await session.end();
}, 120_000);

test('what a message says is kept also when its turn was cut, by whoever goes on and by a rollback', async () => {
  const session = await world().walkback.sessions.start({ root: world().root });
  const cut = async (id: string, text: string) => {
    const run = session.run({ message: { id, text } });
    await run.guard(call(`call-of-${id}`, id), () => world().write('api/file.txt', id));
  };
  const long = `Long\n${'z'.repeat(5000)}`;
  await session.run({ message: { id: 'msg-0', text: 'First' } }).finish();
  await cut('msg-1', 'Short\nand cut');
  await cut('msg-2', long);
  await cut('msg-3', 'Last');
  const { undoCheckpointId } = await session.rollback({ to: 'msg-0' });
  await session.rollback({ to: { checkpointId: undoCheckpointId ?? '' } });
  const { messages } = await session.timeline();
  expect(messages.map(({ messageId, title }) => [messageId, title])).toEqual([
    ['msg-0', 'First'],
    ['msg-1', 'Short'],
    ['msg-2', 'Long'],
    ['msg-3', 'Last'],
  ]);
  for (const [messageId, text] of [
    ['msg-1', 'Short\nand cut'],
    ['msg-2', long],
    ['msg-3', 'Last'],
  ] as const) {
    const { checkpoints } = await session.changes({ messageId });
    expect(checkpoints.map(({ message }) => message?.text)).toEqual([text]);
  }
  await session.end();
});

test('two points are compared when the sandbox is gone, on one branch and across two, and it is said', async () => {
  const session = await world().walkback.sessions.start({ root: world().root });
  const take = async (messageId: string, text: string) => {
    world().write('api/file.txt', text);
    return session.checkpoint({ messageId });
  };
  await take('a', 'a\n');
  const b = await take('b', 'a\nb\n');
  await session.rollback({ to: 'a' });
  await take('c', 'a\nc\n');
  const compare = async () => {
    const [along, across] = [
      await session.diff({ from: 'a', to: 'c' }),
      await session.diff({ from: 'b', to: 'c' }),
    ];
    return { along, across };
  };
  const there = await compare();
  expect(there.across.warnings).toEqual([]);
  const { sandboxId } = (await session.timeline({ limit: 1 })).session;
  await sdkOf(world().cloud).kill(sandboxId);
  const gone = await compare();
  for (const way of ['along', 'across'] as const) {
    expect(gone[way].repositories).toEqual(there[way].repositories);
    expect(gone[way].warnings[0]).toContain('compared in the review copy');
  }
  expect(gone.across.repositories[0]?.diff).toContain('-b\n+c');
  // What only the sandbox knows cannot be compared, and the error says so.
  await expect(session.diff({ from: b.checkpointId, to: 'now' })).rejects.toMatchObject({
    name: 'SandboxNotFound',
  });
}, 180_000);
