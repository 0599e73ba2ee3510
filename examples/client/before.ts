import { fileTools } from './file-tools.ts';
import { converse, type Model } from './loop.ts';

export const turn = async (model: Model, directory: string, text: string): Promise<string> => {
  const tools = fileTools(directory);
  const reply = await converse(model, tools, text);
  return reply;
};
