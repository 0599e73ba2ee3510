import { generateText, isStepCount, type LanguageModel, type ToolSet } from 'ai';
import type { Session } from '../../client/index.ts';
import { checkpointed } from '../../client/integrations/ai-sdk.ts';

interface Question {
  id: string;
  text: string;
}

export const answer = async (session: Session, model: LanguageModel, tools: ToolSet, question: Question) => {
  const run = session.run({ message: { id: question.id } });
  const answered = await generateText({
    model,
    tools: checkpointed(tools, run),
    prompt: question.text,
    stopWhen: isStepCount(20),
    abortSignal: run.signal,
  });
  await run.finish();
  return answered.text;
};
