/** Tools of a host as they are wrapped, whatever made them. */
import { expect, test } from 'vitest';
import { checkpointed, type Run, type ToolCall } from '../../client/index.ts';

const record = (): { run: Run; calls: ToolCall[] } => {
  const calls: ToolCall[] = [];
  const before: Run['before'] = async (call) => void calls.push(call);
  const run: Run = {
    sessionId: 's',
    messageId: 'm',
    epoch: 1,
    signal: new AbortController().signal,
    before,
    guard: async (call, execute) => {
      await before(call);
      return execute();
    },
    finish: () => Promise.reject(new Error('not asked')),
  };
  return { run, calls };
};

class Counter {
  description = 'counts';
  #count = 0;

  async execute(by: number): Promise<number> {
    return (this.#count += by);
  }
}

test.each([
  ['a plain object', { description: 'counts', execute: async (by: number) => by }],
  ['a frozen one', Object.freeze({ description: 'counts', execute: async (by: number) => by })],
  ['one of a class with private members', new Counter()],
])('%s has its checkpoint, keeps its members, and stays as it was', async (_name, tool) => {
  const { run, calls } = record();
  const before = tool.execute;
  const wrapped = checkpointed({ edit: tool }, run);
  const answer: unknown = wrapped.edit.execute(2);
  expect(await answer).toBe(2);
  expect(calls).toMatchObject([{ name: 'edit', input: 2, id: expect.stringMatching(/^call-/) }]);
  expect(wrapped.edit.description).toBe('counts');
  expect(Object.getPrototypeOf(wrapped.edit)).toBe(Object.getPrototypeOf(tool));
  expect(tool.execute).toBe(before);
});
