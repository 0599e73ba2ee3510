/** The samples of docs/integrations.md, each in a turn of its host that edits one file and is taken back. */
import { fakeModel } from '@langchain/core/testing';
import { tool as openaiTool } from '@openai/agents-core';
import { tool as aiTool, jsonSchema } from 'ai';
import { AIMessage, tool as langchainTool } from 'langchain';
import { expect, test } from 'vitest';
import type { Session } from '../../client/index.ts';
import { answer as withAiSdk } from '../../examples/integrations/ai-sdk.ts';
import { answer as withLangchain } from '../../examples/integrations/langchain.ts';
import { answer as withOpenaiAgents } from '../../examples/integrations/openai-agents.ts';
import { openClientWorld } from '../support/client-world.ts';
import { scriptedModel } from '../support/hosts/ai-sdk.ts';
import { ScriptedModel } from '../support/hosts/openai-agents.ts';
import { edit } from '../support/integration-conformance.ts';
import { shared } from '../support/shared.ts';

const world = shared(openClientWorld);
const steps = [[edit('call-1', 'api/file.txt', 'of the agent\n')]];
const schema = { type: 'object', properties: {}, additionalProperties: true } as const;
const description = 'edits';
const execute = async (): Promise<string> => {
  world().write('api/file.txt', 'of the agent\n');
  return 'done';
};

const SAMPLES: Record<
  string,
  (session: Session, question: { id: string; text: string }) => Promise<unknown>
> = {
  'AI SDK': (session, question) =>
    withAiSdk(
      session,
      scriptedModel(steps),
      { edit: aiTool({ inputSchema: jsonSchema({ type: 'object' }), execute }) },
      question,
    ),
  'OpenAI Agents': (session, question) => {
    const parameters = { ...schema, required: [] };
    const tools = [openaiTool({ name: 'edit', description, strict: false, parameters, execute })];
    return withOpenaiAgents(session, new ScriptedModel(steps), tools, question);
  },
  LangChain: (session, question) => {
    const model = fakeModel().respondWithTools([{ name: 'edit', args: {}, id: 'call-1' }]);
    const tools = [langchainTool(execute, { name: 'edit', description, schema })];
    return withLangchain(session, model.respond(new AIMessage('done')), tools, question);
  },
};

test.each(Object.entries(SAMPLES))('%s: one turn, and back', async (_host, sample) => {
  world().write('api/file.txt', 'as it was\n');
  const session = await world().walkback.sessions.start({ root: world().root });
  expect(await sample(session, { id: 'msg-1', text: 'edit' })).toBe('done');
  expect(world().read('api/file.txt')).toBe('of the agent\n');
  const { checkpoints } = await session.timeline();
  const before = checkpoints.find(({ toolExecutionId }) => toolExecutionId === 'call-1');
  await session.rollback({ to: before?.checkpointId ?? '' });
  expect(world().read('api/file.txt')).toBe('as it was\n');
  await session.end();
});
