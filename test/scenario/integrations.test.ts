/** What each integration promises, on every host here. The other hosts and promises than these few: in `npm run test:long`. */
import { generateText, jsonSchema, type ModelMessage, tool } from 'ai';
import { describe, expect } from 'vitest';
import { checkpointed } from '../../client/integrations/ai-sdk.ts';
import { checkpointed as checkpointedCalls } from '../../client/integrations/langchain.ts';
import { openClientWorld } from '../support/client-world.ts';
import { aiSdk, scriptedModel } from '../support/hosts/ai-sdk.ts';
import { openaiAgents } from '../support/hosts/openai-agents.ts';
import { conformance, edit, essential, type ScriptedCall } from '../support/integration-conformance.ts';
import { longTest } from '../support/sampled-test.ts';
import { WHOLE } from '../support/sampling.ts';
import { shared } from '../support/shared.ts';

/** LangChain takes more than a second to load. */
const HOSTS = WHOLE
  ? [aiSdk, openaiAgents, (await import('../support/hosts/langchain.ts')).langchain]
  : [aiSdk, openaiAgents];
const world = shared(openClientWorld);

describe.each(HOSTS)('$name', (host) => (WHOLE ? conformance : essential)(host, world));

longTest.each(HOSTS)('$name: what a tool that throws left behind is of its message', async (host) => {
  world().write('api/file.txt', 'as it was\n');
  const session = await world().walkback.sessions.start({ root: world().root });
  const play = (messageId: string, ids: string[]) =>
    host.play({
      session,
      messageId,
      steps: ids.map((id) => [edit(id)]),
      onCheckpointError: 'block',
      act: async ({ id, path }) => {
        world().write(path, `half of ${id}\n`);
        if (id === 'throws') throw new Error('out of paper');
        return 'done';
      },
    });
  const { modelCalls, error, told } = await play('msg-1', ['throws', 'next']);
  if (host.toolErrorEnds === undefined) {
    expect([modelCalls, error]).toEqual([3, undefined]);
    expect(told).toMatch(/out of paper|error occurred while running the tool/);
  } else {
    expect(modelCalls).toBe(1);
    expect(String(error)).toBe('Error: out of paper');
  }
  await play('msg-2', ['later']);
  const { checkpoints } = await session.timeline();
  const of = (id: string) => checkpoints.find(({ toolExecutionId }) => toolExecutionId === id);
  expect(of('later')?.messageId).toBe('msg-1');
  await session.rollback({ to: 'msg-1' });
  expect(world().read('api/file.txt')).toBe(
    host.toolErrorEnds === undefined ? 'half of next\n' : 'half of throws\n',
  );
  await session.rollback({ to: of('throws')?.checkpointId ?? '' });
  expect(world().read('api/file.txt')).toBe('as it was\n');
  await session.end();
});

longTest(
  'LangChain: a middleware after ours tells the model of a tool that throws, and has no checkpoint to answer for',
  async () => {
    const { fakeModel } = await import('@langchain/core/testing');
    const {
      AIMessage,
      createAgent,
      createMiddleware,
      tool: langchainTool,
      ToolMessage,
    } = await import('langchain');
    const session = await world().walkback.sessions.start({ root: world().root });
    const run = session.run({ message: { id: 'msg-1' } });
    const fails = langchainTool(
      async () => {
        throw new Error('out of paper');
      },
      { name: 'edit', description: 'edits', schema: { type: 'object', properties: {} } },
    );
    const model = fakeModel().respondWithTools([{ name: 'edit', args: {}, id: 'call-1' }]);
    const middleware = [
      createMiddleware({ name: 'walkback', wrapToolCall: checkpointedCalls(run) }),
      createMiddleware({
        name: 'tool-errors',
        wrapToolCall: async (request, handler) => {
          try {
            return await handler(request);
          } catch (error) {
            const { id: tool_call_id = '', name } = request.toolCall;
            return new ToolMessage({ content: String(error), tool_call_id, name, status: 'error' });
          }
        },
      }),
    ];
    const agent = createAgent({ model: model.respond(new AIMessage('done')), tools: [fails], middleware });
    const { messages } = await agent.invoke({ messages: ['edit'] }, { signal: run.signal });
    expect(messages.map(({ text }) => text).slice(-2)).toEqual(['Error: out of paper', 'done']);
    expect((await session.timeline()).checkpoints.map(({ toolExecutionId }) => toolExecutionId)).toContain(
      'call-1',
    );
    await session.end();
  },
);

const inputSchema = jsonSchema<ScriptedCall>({ type: 'object' });

longTest('AI SDK: a tool that a person approved, in a later call, has its checkpoint', async () => {
  const session = await world().walkback.sessions.start({ root: world().root });
  const run = session.run({ message: { id: 'msg-1' } });
  const seen: (string | null)[][] = [];
  const idsNow = async () =>
    (await session.timeline()).checkpoints.map(({ toolExecutionId }) => toolExecutionId);
  const execute = async ({ path, text }: ScriptedCall): Promise<string> => {
    seen.push(await idsNow());
    world().write(path, text);
    return 'done';
  };
  const tools = checkpointed({ edit: tool({ inputSchema, execute }) }, run);
  const common = { tools, toolApproval: { edit: 'user-approval' as const }, abortSignal: run.signal };
  const messages: ModelMessage[] = [{ role: 'user', content: 'edit' }];
  const asked = await generateText({ ...common, model: scriptedModel([[edit('call-1')]]), messages });
  expect(await idsNow(), 'no checkpoint while nobody has approved').not.toContain('call-1');
  const request = asked.content.find((part) => part.type === 'tool-approval-request');
  messages.push(...asked.responseMessages, {
    role: 'tool',
    content: [{ type: 'tool-approval-response', approvalId: request?.approvalId ?? '', approved: true }],
  });
  await generateText({ ...common, model: scriptedModel([]), messages });
  expect(seen).toHaveLength(1);
  expect(seen[0]).toContain('call-1');
  await session.end();
});

longTest.each([
  [
    'an async generator',
    async function* () {
      yield 'half';
      yield 'whole';
    },
    ['half', 'whole'],
  ],
  [
    'a function that answers an iterable',
    () =>
      (async function* () {
        yield 'half';
        yield 'whole';
      })(),
    [],
  ],
])('AI SDK: a tool that streams as %s', async (_how, execute, preliminary) => {
  const session = await world().walkback.sessions.start({ root: world().root });
  const run = session.run({ message: { id: 'msg-1' } });
  const tools = checkpointed({ edit: tool({ inputSchema, execute }) }, run);
  const outputs: unknown[] = [];
  const { toolResults } = await generateText({
    model: scriptedModel([[edit('call-1')]]),
    tools,
    prompt: 'edit',
  });
  expect(toolResults.map(({ output }) => output)).toEqual(['whole']);
  const made = tools.edit.execute?.(edit('call-2'), {
    toolCallId: 'call-2',
    messages: [],
    context: {},
  });
  if (typeof made === 'object' && made !== null && Symbol.asyncIterator in made) {
    for await (const output of made) outputs.push(output);
  } else expect(await made).toBe('whole');
  expect(outputs).toEqual(preliminary);
  await session.end();
});
