import { Agent, type Model, Runner, type Tool } from '@openai/agents-core';
import type { Session } from '../../client/index.ts';
import { checkpointed } from '../../client/integrations/openai-agents.ts';

interface Question {
  id: string;
  text: string;
}

export const answer = async (session: Session, model: Model, tools: Tool[], question: Question) => {
  const run = session.run({ message: { id: question.id } });
  const agent = new Agent({ name: 'coder', model, tools: checkpointed(tools, run) });
  const answered = await new Runner().run(agent, question.text, { signal: run.signal });
  await run.finish();
  return answered.finalOutput;
};
