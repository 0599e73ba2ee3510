/**
 * Files that the person named on the command line. A problem with such a file is wrong input, and the error
 * names the file.
 */
import { readFile } from 'node:fs/promises';
import { CliError } from './failure.ts';

const isOfFiles = (error: unknown): error is Error => error instanceof Error && 'syscall' in error;

/** An empty name comes from a script's variable that was not set. */
const refuseUnnamed = (file: string): void => {
  if (file !== '') return;
  throw new CliError('InvalidInput', 'The name of a file is empty.', { hint: 'name a file' });
};

export const readNamedFile = async (file: string): Promise<string> => {
  refuseUnnamed(file);
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    if (!isOfFiles(cause)) throw cause;
    throw new CliError('InvalidInput', `${file} cannot be read: ${cause.message}.`, {
      cause,
      hint: 'name a file that is there and that you may read',
    });
  }
};

/** `work` writes the file. Its other errors pass through unchanged. */
export const writingNamedFile = async <T>(file: string, work: () => Promise<T>): Promise<T> => {
  refuseUnnamed(file);
  try {
    return await work();
  } catch (cause) {
    if (!isOfFiles(cause)) throw cause;
    throw new CliError('InvalidInput', `${file} cannot be written: ${cause.message}.`, {
      cause,
      hint: 'name a file in a directory that is there, that you may write to, and that has room',
    });
  }
};
