import { checkpointed, sagaTools, Walkback } from 'walkback';
import { serveTools } from 'walkback/serve-tools';
import { fileTools } from './file-tools.ts';
import { converse, type Model } from './loop.ts';
import { ownTools } from './own-tools.ts';

export const turn = async (model: Model, directory: string, text: string): Promise<string> => {
  const walkback = new Walkback();
  const session = await walkback.sessions.start({ root: directory, sessionId: 'chat' });
  const run = session.run({ message: { text } });
  const served = await serveTools(ownTools, { walkback });
  const saga = await walkback.sagas.interactive({ run });
  const tools = { ...checkpointed(fileTools(directory), run), ...sagaTools(ownTools, saga, { run }) };
  const reply = await converse(model, tools, text);
  await saga.close({ outcome: reply === 'cannot be done' ? 'unwind' : 'complete' });
  await run.finish();
  await served.close();
  return reply;
};
