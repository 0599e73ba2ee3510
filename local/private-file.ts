/** Files that only their owner may read, never seen half written. */
import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import type * as z from 'zod';
import { WalkbackError } from '../core/shared/errors.ts';

export const PRIVATE_FILE = 0o600;
export const PRIVATE_DIRECTORY = 0o700;

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
/** Whether the file is missing, also when something on its path is not a directory. */
export const isMissing = (error: unknown): boolean => hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR');
export const isExisting = (error: unknown): boolean => hasCode(error, 'EEXIST');

/** Writes another file and renames it, so that a reader never sees half a file. */
export const writePrivately = async (path: string, content: unknown): Promise<void> => {
  const temporary = `${path}.${randomUUID()}`;
  try {
    await writeFile(temporary, `${JSON.stringify(content, null, 2)}\n`, { mode: PRIVATE_FILE });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
};

/** Undefined when there is none. Throws `ConfigurationError` when it is damaged. */
export const readJson = async <T>(path: string, schema: z.ZodType<T>): Promise<T | undefined> => {
  try {
    return schema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw new WalkbackError('ConfigurationError', `${path} is damaged; remove it and start again`, {
      cause: error,
    });
  }
};
