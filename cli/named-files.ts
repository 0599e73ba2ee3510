/** Files that the person named on the command line: what is wrong with one is wrong input, and said by its name. */
import { readFile } from 'node:fs/promises';
import { CliError } from './failure.ts';

const isOfFiles = (error: unknown): error is Error => error instanceof Error && 'syscall' in error;

/** An empty name is a variable of a script that was not set. */
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

/** `work` writes the file; what else it does fails with its own errors. */
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
