/** An undo whose answer the model did not get is not followed by another step back: `walkback mcp` remembers what it was told. */
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { createMcpServer } from '../../cli/mcp/server.ts';
import { errors, type Session, type UndoOptions } from '../../client/index.ts';

/** A session as the functions keep it: each undo and redo raises its epoch, and is refused in another one. */
const opened = async () => {
  const gates: Promise<void>[] = [];
  const state = { epoch: 1, known: 1, undone: 0, begun: Promise.withResolvers<void>() };
  const move = (by: number) => async (options: UndoOptions) => {
    if (options.epoch !== undefined && options.epoch !== state.epoch)
      throw new errors.StaleEpoch(`Epoch ${options.epoch} is not the current epoch.`);
    state.epoch += 1;
    state.undone += by;
    state.begun.resolve();
    await gates.shift();
    state.known = state.epoch;
    return { epoch: state.epoch };
  };
  const session = {
    get epoch() {
      return state.known;
    },
    undo: move(1),
    redo: move(-1),
    refresh: async () => {
      state.known = state.epoch;
    },
    timeline: async () => ({ checkpoints: [] }),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as much of it as these tools ask
  const server = createMcpServer(async () => session as unknown as Session);
  const client = new Client({ name: 'test', version: '1.0.0' });
  const [here, there] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(there), client.connect(here)]);
  const call = async (name: string, signal?: AbortSignal): Promise<string> => {
    const { content } = await client.callTool({ name, arguments: {} }, signal && { signal });
    const [first] = content;
    return first?.type === 'text' ? first.text : '';
  };
  return { state, gates, call, [Symbol.asyncDispose]: () => client.close() };
};

test('each undo that was answered is followed by the next', async () => {
  await using mcp = await opened();
  for (const name of ['undo', 'undo', 'redo']) expect(await mcp.call(name)).toContain('epoch');
  expect(mcp.state.undone).toBe(1);
});

test('one that the client gave up is not made again, until the model has looked', async () => {
  await using mcp = await opened();
  const gate = Promise.withResolvers<void>();
  mcp.gates.push(gate.promise);
  const gone = new AbortController();
  const lost = mcp.call('undo', gone.signal);
  await mcp.state.begun.promise;
  gone.abort(new Error('it took too long'));
  await expect(lost).rejects.toThrow('it took too long');
  gate.resolve();
  for (const name of ['undo', 'redo', 'undo']) expect(await mcp.call(name)).toContain('StaleEpoch');
  expect(mcp.state.undone).toBe(1);
  await mcp.call('list');
  expect(await mcp.call('undo')).toContain('epoch');
  expect(mcp.state.undone).toBe(2);
});

test('somebody else who moved the session ends it too', async () => {
  await using mcp = await opened();
  await mcp.call('undo');
  mcp.state.epoch += 1;
  expect(await mcp.call('undo')).toContain('StaleEpoch');
  expect(mcp.state.undone).toBe(1);
});
