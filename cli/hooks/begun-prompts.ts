/**
 * The file `hooks.json` of the data directory: where prompts of Claude Code began, and the text of those that no
 * checkpoint has yet. It remembers them when the service that knew them has ended.
 */
import { join } from 'node:path';
import * as z from 'zod';
import type { BegunPrompts } from '../../client/claude-hooks.ts';
import { readJson, writePrivately } from '../../local/private-file.ts';

const row = z.object({
  key: z.string(),
  /** Absent: its session has not begun. */
  begun: z.object({ sessionId: z.string(), epoch: z.int() }).optional(),
  /** What the person wrote. Absent: a checkpoint has it. */
  text: z.string().optional(),
});
type Row = Omit<z.infer<typeof row>, 'key'>;

/** The newest ones. Work goes on for some time, but not for ever. */
const MOST_PROMPTS = 1000;
/** Prompts that no tool came after keep their text for so long. The file is written anew for each prompt. */
const MOST_TEXTS = 20;
/** More than a checkpoint keeps, which then says that it was cut. */
const MOST_LETTERS = 20_000;

/** What the service keeps beside what the hooks ask for. */
export interface KeptPrompts extends BegunPrompts {
  /** Durable when this ends. */
  keepText(promptId: string, text: string): Promise<void>;
}

export interface BegunPromptsFile {
  /** The prompts of one conversation. */
  of(conversation: string): KeptPrompts;
  /** What is still under way writes nothing any more: the file belongs to the next service by then. */
  close(): Promise<void>;
}

/**
 * If prompts cannot be read or written, they are not known; this does not stop any tool. `warn` is then called once.
 */
export const openBegunPrompts = (dataDir: string, warn: (message: string) => void): BegunPromptsFile => {
  const path = join(dataDir, 'hooks.json');
  let isTold = false;
  const tell = (error: unknown): void => {
    if (isTold) return;
    isTold = true;
    warn(
      `Where prompts began cannot be kept in ${path}, so after a restart of the cloud a prompt that a rollback ended may go on, and one without a tool has lost its text. ${String(error)}`,
    );
  };
  let reading: Promise<Map<string, Row>> | undefined;
  let writing: Promise<void> = Promise.resolve();
  let isClosed = false;

  const read = async (): Promise<Map<string, Row>> => {
    const rows = await readJson(path, z.array(row)).catch(tell);
    return new Map((rows ?? []).map(({ key, ...kept }) => [key, kept]));
  };
  const known = (): Promise<Map<string, Row>> => (reading ??= read());

  const forgetOldest = (all: Map<string, Row>): void => {
    for (const [oldest] of all) if (all.size > MOST_PROMPTS) all.delete(oldest);
    const texts = [...all.values()].filter(({ text }) => text !== undefined);
    for (const one of texts.slice(0, -MOST_TEXTS)) delete one.text;
  };

  const write = async (): Promise<void> => {
    const all = await known();
    if (isClosed) return;
    forgetOldest(all);
    const rows = [...all].map(([key, kept]) => ({ key, ...kept }));
    await writePrivately(path, rows).catch(tell);
  };

  const of = (conversation: string): KeptPrompts => {
    const keyOf = (promptId: string): string => `${conversation} ${promptId}`;
    const change = async (promptId: string, how: (kept: Row) => Row): Promise<void> => {
      const all = await known();
      const key = keyOf(promptId);
      all.set(key, how(all.get(key) ?? {}));
      writing = writing.then(write);
      await writing;
    };
    return {
      find: async (promptId) => (await known()).get(keyOf(promptId))?.begun,
      add: (promptId, { sessionId, epoch }) =>
        change(promptId, (kept) => ({ ...kept, begun: { sessionId, epoch } })),
      textOf: async (promptId) => (await known()).get(keyOf(promptId))?.text,
      keepText: (promptId, text) =>
        change(promptId, (kept) => ({ ...kept, text: text.slice(0, MOST_LETTERS) })),
      dropText: async (promptId) => {
        if ((await known()).get(keyOf(promptId))?.text === undefined) return;
        await change(promptId, (kept) => {
          const { text: _, ...rest } = kept;
          return rest;
        });
      },
    };
  };
  const close = async (): Promise<void> => {
    isClosed = true;
    await writing;
  };
  return { of, close };
};
