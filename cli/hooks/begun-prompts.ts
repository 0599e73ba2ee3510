/**
 * The file `hooks.json` of the data directory: where prompts of Claude Code began. It remembers them when the
 * service that knew them has ended.
 */
import { join } from 'node:path';
import * as z from 'zod';
import type { BegunPrompt, BegunPrompts } from '../../client/claude-hooks.ts';
import { readJson, writePrivately } from '../../local/private-file.ts';

const fileSchema = z.array(z.object({ key: z.string(), sessionId: z.string(), epoch: z.int() }));

/** The newest ones. Work goes on for some time, but not for ever. */
const MOST_PROMPTS = 1000;

/**
 * Answers the prompts of one conversation. If they cannot be read or written, they are not known; this does
 * not stop any tool. `warn` is then called once.
 */
export const openBegunPrompts = (
  dataDir: string,
  warn: (message: string) => void,
): ((conversation: string) => BegunPrompts) => {
  const path = join(dataDir, 'hooks.json');
  let isTold = false;
  const tell = (error: unknown): void => {
    if (isTold) return;
    isTold = true;
    warn(
      `Where prompts began cannot be kept in ${path}, so after a restart of the cloud a prompt that a rollback ended may go on. ${String(error)}`,
    );
  };
  let reading: Promise<Map<string, BegunPrompt>> | undefined;
  let writing: Promise<void> = Promise.resolve();

  const read = async (): Promise<Map<string, BegunPrompt>> => {
    const rows = await readJson(path, fileSchema).catch(tell);
    return new Map((rows ?? []).map(({ key, ...begun }) => [key, begun]));
  };
  const known = (): Promise<Map<string, BegunPrompt>> => (reading ??= read());

  const write = async (): Promise<void> => {
    const all = await known();
    for (const [oldest] of all) if (all.size > MOST_PROMPTS) all.delete(oldest);
    const rows = [...all].map(([key, begun]) => ({ key, ...begun }));
    await writePrivately(path, rows).catch(tell);
  };

  return (conversation) => {
    const keyOf = (promptId: string): string => `${conversation} ${promptId}`;
    return {
      find: async (promptId) => (await known()).get(keyOf(promptId)),
      add: async (promptId, { sessionId, epoch }) => {
        (await known()).set(keyOf(promptId), { sessionId, epoch });
        writing = writing.then(write);
        await writing;
      },
    };
  };
};
