/** The real runner of OpenAI Agents, with a model that is scripted. */
import {
  Agent,
  type Model,
  type ModelResponse,
  Runner,
  setTracingDisabled,
  tool,
  Usage,
} from '@openai/agents-core';
import type { Run } from '../../../client/index.ts';
import { checkpointed } from '../../../client/integrations/openai-agents.ts';
import type { Act, Ended, Host, ScriptedCall } from '../integration-conformance.ts';

setTracingDisabled(true);

export class ScriptedModel implements Model {
  modelCalls = 0;
  told = '';
  readonly #steps: readonly ScriptedCall[][];

  constructor(steps: readonly ScriptedCall[][]) {
    this.#steps = steps;
  }

  async getResponse({ input }: Parameters<Model['getResponse']>[0]): Promise<ModelResponse> {
    this.told = JSON.stringify(input);
    const calls = this.#steps[this.modelCalls++];
    if (calls === undefined) {
      const content = [{ type: 'output_text' as const, text: 'done' }];
      const said = { type: 'message' as const, role: 'assistant' as const, status: 'completed' as const };
      return { usage: new Usage(), output: [{ ...said, content }] };
    }
    return {
      usage: new Usage(),
      output: calls.map((call) => ({
        type: 'function_call' as const,
        callId: call.tool === 'delegate' ? `outer-${call.id}` : call.id,
        name: call.tool,
        status: 'completed' as const,
        // `input` is what an agent as a tool takes.
        arguments: JSON.stringify({ ...call, input: 'edit' }),
      })),
    };
  }

  getStreamedResponse(): never {
    throw new TypeError('this model does not stream');
  }
}

const parameters = {
  type: 'object' as const,
  properties: {},
  required: [],
  additionalProperties: true as const,
};

const agentFor = (
  run: Run,
  act: Act,
  steps: readonly ScriptedCall[][],
  depth = 0,
): [Agent, ScriptedModel] => {
  const model = new ScriptedModel(steps);
  const edit = tool({
    name: 'edit',
    description: 'edits',
    strict: false,
    parameters,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the script says
    execute: (input, _context, details) => act(input as ScriptedCall, details?.signal),
  });
  const inner = steps.flat().filter((call) => call.tool === 'delegate');
  const delegates =
    depth === 0
      ? [
          agentFor(run, act, [inner.map((call) => ({ ...call, tool: 'edit' as const }))], 1)[0].asTool({
            toolName: 'delegate',
            toolDescription: 'lets another agent edit',
          }),
        ]
      : [];
  const tools = checkpointed([edit, ...delegates], run);
  return [new Agent({ name: `agent-${depth}`, model, tools }), model];
};

export const openaiAgents: Host = {
  name: 'OpenAI Agents',
  subagent: 'covered',
  play: async ({ session, messageId, steps, act, onCheckpointError, signal }): Promise<Ended> => {
    const run = session.run({ message: { id: messageId }, onCheckpointError, signal });
    const [agent, model] = agentFor(run, act, steps);
    let error: Error | undefined;
    try {
      await new Runner().run(agent, 'edit', { signal: run.signal });
      await run.finish().catch(() => undefined);
    } catch (thrown) {
      error = thrown instanceof Error ? thrown : new Error('not an error', { cause: thrown });
    }
    const told = error === undefined ? model.told : `${String(error)} ${model.told}`;
    return { modelCalls: model.modelCalls, error, told };
  },
};
