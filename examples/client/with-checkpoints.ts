import { checkpointed, Walkback } from 'walkback';
import { fileTools } from './file-tools.ts';
import { converse, type Model } from './loop.ts';

export const turn = async (model: Model, directory: string, text: string): Promise<string> => {
  const walkback = new Walkback();
  const session = await walkback.sessions.start({ root: directory, sessionId: 'chat' });
  const run = session.run({ message: { text } });
  const tools = checkpointed(fileTools(directory), run);
  const reply = await converse(model, tools, text);
  await run.finish();
  return reply;
};
