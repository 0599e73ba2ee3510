import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

const isDirectory = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isDirectory() === true;

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

/**
 * A directory, with those above it that are not there. Node's own `recursive` never comes back below /proc, where a directory
 * is there and making another in it is answered ENOENT; here each is tried twice at the most.
 */
export const makeDirectory = async (path: string, mode?: number): Promise<void> => {
  const make = async (): Promise<void> => {
    try {
      await mkdir(path, mode);
    } catch (error) {
      if (!(await isDirectory(path))) throw error;
    }
  };
  try {
    await make();
  } catch (error) {
    const above = dirname(path);
    if (!isMissing(error) || above === path) throw error;
    await makeDirectory(above, mode);
    await make();
  }
};
