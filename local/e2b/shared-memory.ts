/**
 * Removes what commands of a sandbox left in shared memory. A real sandbox has memory of its own, which
 * disappears with it; here all share the host's. The name of each folder there contains the projects root
 * (`sandbox/shared/run.sh`).
 */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

const SHARED_MEMORY = '/dev/shm';

/**
 * Removes what commands below a directory left. The directory's name is long and random, so it appears only
 * in their paths.
 */
export const removeFromMemory = async (directoryName: string): Promise<void> => {
  const names = await readdir(SHARED_MEMORY).catch(() => []);
  const left = names.filter((name) => /^walkback-\d+-/.test(name) && name.includes(`-${directoryName}-`));
  await Promise.all(left.map((name) => rm(join(SHARED_MEMORY, name), { recursive: true, force: true })));
};
