/** The stored record of one sandbox, in `<dataDir>/<sandboxId>/sandbox.json`. */
import { randomUUID } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { syncFile } from '../on-disk.ts';

const sandboxRecord = z.object({
  sandboxId: z.string(),
  templateId: z.string(),
  /** The token that the data plane expects in `x-access-token`. */
  accessToken: z.string(),
  metadata: z.record(z.string(), z.string()),
  /** Environment of every command. A command's own variables have priority. */
  envs: z.record(z.string(), z.string()),
  state: z.enum(['running', 'paused']),
  onTimeout: z.enum(['kill', 'pause']),
  startedAtMs: z.int(),
  /** When it is killed or paused; null for never. */
  endAtMs: z.int().nullable(),
  /** Host directories seen inside the sandbox. */
  mounts: z.array(z.object({ path: z.string(), directory: z.string() })),
});

export type SandboxRecord = z.infer<typeof sandboxRecord>;

const FILE = 'sandbox.json';

/** Undefined when there is no complete record: the sandbox was never finished. */
export const readRecord = async (directory: string): Promise<SandboxRecord | undefined> => {
  const text = await readFile(join(directory, FILE), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : sandboxRecord.parse(JSON.parse(text));
};

/** Replaces the record in one step. Only the owner may read it, because it holds the access token. */
export const writeRecord = async (directory: string, record: SandboxRecord): Promise<void> => {
  const unfinished = join(directory, `${FILE}.${randomUUID()}`);
  const handle = await open(unfinished, 'wx', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(record, null, 2)}\n`);
    await syncFile(handle);
  } finally {
    await handle.close();
  }
  await rename(unfinished, join(directory, FILE));
};
