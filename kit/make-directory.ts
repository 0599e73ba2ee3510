import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

const isDirectory = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isDirectory() === true;

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';

/**
 * Makes a directory, with any missing directories above it. Node's own `recursive` never returns below /proc:
 * a directory exists there, but making another one in it gives ENOENT. Here each directory is tried at most
 * twice.
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
