/** Removes the folders of a call whose command has ended. What it left to be read has been read, or is of no use. */
import type { Repositories } from '../../core/checkpoint/ports/repositories.ts';
import type { ExecutionAdapter } from '../../core/checkpoint/ports/sandbox.ts';
import { isWalkbackError } from '../../core/shared/errors.ts';
import { incomingDirectory, runDirectory } from './call-folders.ts';
import { shellQuote } from './shell-quote.ts';

const TIMEOUT_MS = 30_000;

type HeldCall = Parameters<Repositories['release']>[1];

/** One round trip. What it cannot remove, a later command removes when it is 15 minutes old. */
export const release = async (sandbox: ExecutionAdapter, place: HeldCall): Promise<void> => {
  const here = { ...place, projectsRoot: '.' };
  const folders = [runDirectory(here, place.held), incomingDirectory(here, place.held)];
  const command = `rm -rf -- ${folders.map(shellQuote).join(' ')}`;
  try {
    await sandbox.run(command, { cwd: place.projectsRoot, timeoutMs: TIMEOUT_MS });
  } catch (error) {
    if (!isWalkbackError(error)) throw error;
  }
};

/** Gives back what a command took that ended without success, so that the agent has room to write. */
export const releasingAfterFailure = async <T>(
  sandbox: ExecutionAdapter,
  place: HeldCall,
  read: () => Promise<T> | T,
): Promise<T> => {
  try {
    return await read();
  } catch (error) {
    await release(sandbox, place);
    throw error;
  }
};
