/** What the runner of OpenAI Agents makes of a tool does not change when a checkpoint stands before it. */
import { Agent, getAllMcpTools, type MCPServer, Runner, RunState, tool } from '@openai/agents-core';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { Run } from '../../client/index.ts';
import { checkpointed } from '../../client/integrations/openai-agents.ts';
import { ScriptedModel } from '../support/hosts/openai-agents.ts';
import { edit, type ScriptedCall } from '../support/integration-conformance.ts';

const runOf = (before: Run['before']): Run => ({
  sessionId: 's',
  messageId: 'm',
  epoch: 1,
  signal: new AbortController().signal,
  before,
  guard: () => Promise.reject(new Error('not asked')),
  finish: () => Promise.reject(new Error('not asked')),
});

const agentOf = (steps: ScriptedCall[][], tools: Agent['tools'], name = 'coder'): Agent =>
  new Agent({ name, model: new ScriptedModel(steps), tools });

describe.each([
  ['as they are', (tools: Agent['tools'], _run: Run): Agent['tools'] => tools],
  ['with checkpoints', checkpointed],
])('tools %s', (_name, wrapped) => {
  const nothing = runOf(async () => undefined);

  test('what decides about an approval reads the input as the tool reads it', async () => {
    const asked: unknown[] = [];
    const parameters = z.object({
      text: z.string().transform(Number).pipe(z.number()),
      currency: z.string().default('EUR'),
    });
    const pay = tool({
      name: 'edit',
      description: 'pays',
      parameters,
      needsApproval: async (_context, input) => {
        asked.push(input);
        return false;
      },
      execute: async () => 'paid',
    });
    const agent = agentOf([[edit('call-1', '', '1000')]], wrapped([pay], nothing));
    await new Runner().run(agent, 'pay');
    expect(asked).toEqual([{ text: 1000, currency: 'EUR' }]);
  });

  test('the time that a tool has is its own', async () => {
    // The tool itself never waits for a timer, so its own time cannot run out.
    const slow = runOf(() => new Promise((resolve) => setTimeout(resolve, 20, undefined)));
    const quick = tool({
      name: 'edit',
      description: 'edits',
      parameters: z.object({}),
      timeoutMs: 1,
      execute: async () => 'was quick',
    });
    const agent = agentOf([[edit('call-1')]], wrapped([quick], slow));
    const { newItems } = await new Runner().run(agent, 'edit');
    expect(newItems.find(({ type }) => type === 'tool_call_output_item')).toMatchObject({
      output: 'was quick',
    });
  });

  test("an agent as a tool beside them goes on from text where its own tool's approval was asked for", async () => {
    let ran = 0;
    const make = (inner: ScriptedCall[][], outer: ScriptedCall[][]): Agent => {
      const change = tool({
        name: 'edit',
        description: 'edits',
        parameters: z.object({}),
        needsApproval: true,
        execute: async () => String((ran += 1)),
      });
      const helper = agentOf(inner, wrapped([change], nothing), 'helper');
      const delegate = helper.asTool({ toolName: 'delegate', toolDescription: 'lets a helper edit' });
      return agentOf(outer, [...wrapped([change], nothing), delegate]);
    };
    const call = edit('call-1');
    const { state } = await new Runner().run(make([[call]], [[{ ...call, tool: 'delegate' }]]), 'edit');
    const again = make([], []);
    const resumed = await RunState.fromString(again, state.toString());
    for (const question of resumed.getInterruptions()) resumed.approve(question);
    const { finalOutput } = await new Runner().run(again, resumed);
    expect([ran, finalOutput]).toEqual([1, 'done']);
  });
});

test('a call that the caller gave up while its checkpoint was taken does not begin', async () => {
  const caller = new AbortController();
  let ran = 0;
  const change = tool({
    name: 'edit',
    description: 'edits',
    parameters: z.object({}),
    execute: async () => String((ran += 1)),
  });
  const run = runOf(async () => {
    caller.abort(new Error('enough'));
    return undefined;
  });
  const agent = agentOf([[edit('call-1')]], checkpointed([change], run));
  await new Runner().run(agent, 'edit', { signal: caller.signal }).catch(() => undefined);
  expect(ran).toBe(0);
});

test("a call that the tool's own guardrail refuses needs no checkpoint", async () => {
  const asked: string[] = [];
  const refused = tool({
    name: 'edit',
    description: 'edits',
    parameters: z.object({}),
    inputGuardrails: [
      { name: 'never', run: async () => ({ behavior: { type: 'rejectContent', message: 'not here' } }) },
    ],
    execute: async () => 'edited',
  });
  const run = runOf(async ({ id }) => void asked.push(id));
  await new Runner().run(agentOf([[edit('call-1')]], checkpointed([refused], run)), 'edit');
  expect(asked).toEqual([]);
});

describe('a tool of an MCP server', () => {
  const heard: string[] = [];
  const run = runOf(async ({ id, name }) => void heard.push(`checkpoint before ${name} ${id}`));
  const server: MCPServer = {
    name: 'files',
    cacheToolsList: false,
    connect: async () => {},
    close: async () => {},
    invalidateToolsCache: async () => {},
    listTools: async () => [
      {
        name: 'edit',
        description: 'edits',
        inputSchema: { type: 'object', properties: {}, required: [], additionalProperties: false },
      },
    ],
    callTool: async (name) => {
      heard.push(`${name} ran`);
      return [{ type: 'text', text: 'edited' }];
    },
  };
  const model = () => new ScriptedModel([[edit('call-1')]]);
  const heardOf = async (agent: Agent): Promise<string[]> => {
    await new Runner().run(agent, 'edit');
    return heard.splice(0);
  };

  test('has its checkpoint when it is given as a tool', async () => {
    const tools = checkpointed(await getAllMcpTools([server]), run);
    const agent = new Agent({ name: 'coder', model: model(), tools });
    expect(await heardOf(agent)).toEqual(['checkpoint before edit call-1', 'edit ran']);
  });

  test('is not seen when the SDK makes it, as the docs say', async () => {
    const agent = new Agent({
      name: 'coder',
      model: model(),
      mcpServers: [server],
      tools: checkpointed([], run),
    });
    expect(await heardOf(agent)).toEqual(['edit ran']);
  });
});

test('a tool of an SDK that would not ask for the checkpoint is refused', () => {
  const old = { type: 'function', name: 'edit', invoke: async () => 'edited' };
  expect(() =>
    checkpointed(
      [old],
      runOf(async () => undefined),
    ),
  ).toThrow(
    "checkpointed: the tool 'edit' has no inputGuardrails. Make it with tool() of @openai/agents-core 0.20 or newer.",
  );
});
