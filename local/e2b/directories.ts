/** Makes the directories that lead to a path, as the daemon does before it writes. */
import { mkdir, stat } from 'node:fs/promises';
import { posix } from 'node:path';
import { ConnectFailure } from './connect-rpc.ts';
import { isMissing, words } from './errno.ts';
import { resolvePath, type SandboxRoot } from './paths.ts';

const above = (path: string): string[] =>
  path === '/' || path === '.' ? [] : [...above(posix.dirname(path)), path];

/** Throws `internal` when something else is in the way. */
export const ensureDirectories = async (path: string, root: SandboxRoot): Promise<void> => {
  for (const one of above(path)) {
    const directory = await resolvePath(one, root);
    const found = await stat(directory).catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw new ConnectFailure('internal', `failed to stat directory: stat ${one}: ${words(error)}`);
    });
    if (found === undefined) await mkdir(directory, { recursive: true });
    else if (!found.isDirectory()) throw new ConnectFailure('internal', `path is a file: ${one}`);
  }
};
