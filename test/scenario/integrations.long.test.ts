import { generateText, jsonSchema, type ModelMessage, tool } from 'ai';
import { describe, expect, test } from 'vitest';
import { checkpointed } from '../../client/integrations/ai-sdk.ts';
import { scriptedModel } from '../support/hosts/ai-sdk.ts';
import { HOSTS } from '../support/hosts/every.ts';
import { sharedWorld } from '../support/hosts/world.ts';
import { conformance, edit, type ScriptedCall } from '../support/integration-conformance.ts';

const world = sharedWorld();

describe.each(HOSTS)('$name', (host) => conformance(host, world));

const inputSchema = jsonSchema<ScriptedCall>({ type: 'object' });

test('AI SDK: a tool that a person approved, in a later call, has its checkpoint', async () => {
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

test.each([
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
