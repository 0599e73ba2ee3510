/** The real AI SDK, with the test model that comes with it. */
import { generateText, isStepCount, jsonSchema, type ToolSet, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import type { Run } from '../../../client/index.ts';
import { checkpointed } from '../../../client/integrations/ai-sdk.ts';
import type { Act, Ended, Host, ScriptedCall } from '../integration-conformance.ts';

type Generated = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>;

const generated = (content: Generated['content']): Generated => ({
  content,
  finishReason: { unified: content[0]?.type === 'tool-call' ? 'tool-calls' : 'stop', raw: undefined },
  usage: {
    inputTokens: { total: 1, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 1, text: undefined, reasoning: undefined },
  },
  warnings: [],
});

/** Asks for each step, then says that it is done. */
export const scriptedModel = (steps: readonly ScriptedCall[][]): MockLanguageModelV4 => {
  const turns = steps.map((calls) =>
    generated(
      calls.map((call) => ({
        type: 'tool-call' as const,
        toolCallId: call.tool === 'delegate' ? `outer-${call.id}` : call.id,
        toolName: call.tool,
        input: JSON.stringify(call),
      })),
    ),
  );
  const done = generated([{ type: 'text', text: 'done' }]);
  let asked = 0;
  return new MockLanguageModelV4({ doGenerate: async () => turns[asked++] ?? done });
};

const inputSchema = jsonSchema<ScriptedCall>({ type: 'object' });

const toolsFor = (run: Run, act: Act): ToolSet =>
  checkpointed(
    {
      edit: tool({ inputSchema, execute: (call, { abortSignal }) => act(call, abortSignal) }),
      delegate: tool({
        inputSchema,
        execute: async (call) => {
          const tools = toolsFor(run, act);
          const model = scriptedModel([[{ ...call, tool: 'edit' }]]);
          return (await generateText({ model, tools, prompt: 'edit', stopWhen: isStepCount(3) })).text;
        },
      }),
    },
    run,
  );

export const aiSdk: Host = {
  name: 'AI SDK',
  subagent: 'covered',
  play: async ({ session, messageId, steps, act, onCheckpointError, signal }): Promise<Ended> => {
    const run = session.run({ message: { id: messageId }, onCheckpointError, signal });
    const model = scriptedModel(steps);
    const modelCalls = () => model.doGenerateCalls.length;
    try {
      const tools = toolsFor(run, act);
      const { responseMessages } = await generateText({
        model,
        tools,
        prompt: 'edit',
        stopWhen: isStepCount(6),
        abortSignal: run.signal,
      });
      const told = JSON.stringify(responseMessages);
      await run.finish().catch(() => undefined);
      return { modelCalls: modelCalls(), told };
    } catch (error) {
      return { modelCalls: modelCalls(), error, told: String(error) };
    }
  },
};
