import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { createAgent, createMiddleware, type StructuredTool } from 'langchain';
import type { Session } from '../../client/index.ts';
import { checkpointed } from '../../client/integrations/langchain.ts';

interface Question {
  id: string;
  text: string;
}

export const answer = async (
  session: Session,
  model: BaseChatModel,
  tools: StructuredTool[],
  question: Question,
) => {
  const run = session.run({ message: { id: question.id } });
  const middleware = [createMiddleware({ name: 'walkback', wrapToolCall: checkpointed(run) })];
  const agent = createAgent({ model, tools, middleware });
  const answered = await agent.invoke({ messages: [question.text] }, { signal: run.signal });
  await run.finish();
  return answered.messages.at(-1)?.text;
};
