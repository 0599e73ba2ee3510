/** The real agent of LangChain, with the fake model that comes with it. */
import { AIMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { createAgent, createMiddleware, tool } from 'langchain';
import type { Run } from '../../../client/index.ts';
import { checkpointed } from '../../../client/integrations/langchain.ts';
import type { Act, Ended, Host, ScriptedCall } from '../integration-conformance.ts';

const scriptedModel = (steps: readonly ScriptedCall[][]) => {
  const model = fakeModel();
  for (const calls of steps) {
    model.respondWithTools(
      calls.map((call) => ({
        name: call.tool,
        args: { ...call },
        id: call.tool === 'delegate' ? `outer-${call.id}` : call.id,
      })),
    );
  }
  return model.respond(new AIMessage('done'));
};

const schema = { type: 'object', properties: {}, additionalProperties: true } as const;

const agentFor = (run: Run, act: Act, model: ReturnType<typeof fakeModel>) => {
  const edit = tool(
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the script says
    (input, config) => act(input as ScriptedCall, config.signal),
    { name: 'edit', description: 'edits', schema },
  );
  const delegate = tool(
    async (input): Promise<string> => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the script says
      const call = { ...(input as ScriptedCall), tool: 'edit' as const };
      await agentFor(run, act, scriptedModel([[call]])).invoke({ messages: ['edit'] });
      return 'done';
    },
    { name: 'delegate', description: 'lets another agent edit', schema },
  );
  const middleware = [createMiddleware({ name: 'walkback', wrapToolCall: checkpointed(run) })];
  return createAgent({ model, tools: [edit, delegate], middleware });
};

export const langchain: Host = {
  name: 'LangChain',
  subagent: 'covered',
  toolErrorEnds: 'below a middleware with wrapToolCall nothing tells the model',
  play: async ({ session, messageId, steps, act, onCheckpointError, signal }): Promise<Ended> => {
    const run = session.run({ message: { id: messageId }, onCheckpointError, signal });
    const model = scriptedModel(steps);
    try {
      const { messages } = await agentFor(run, act, model).invoke(
        { messages: ['edit'] },
        { signal: run.signal },
      );
      await run.finish().catch(() => undefined);
      return { modelCalls: model.callCount, told: JSON.stringify(messages) };
    } catch (error) {
      return { modelCalls: model.callCount, error, told: String(error) };
    }
  },
};
