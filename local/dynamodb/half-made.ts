/**
 * The database of a start that broke off before all tables were made: a full disk, or the end of the process. Some tables
 * of it have parts only, which nothing tells. Nothing was ever stored in it, so the next start begins anew.
 */
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { syncDirectory } from '../on-disk.ts';
import { isMissing, PRIVATE_DIRECTORY, PRIVATE_FILE } from '../private-file.ts';

const FILES = ['', '-wal', '-shm', '-journal'].map((end) => `tables.sqlite${end}`);

const directoryOf = (dataDir: string): string => join(dataDir, 'dynamodb');
const markOf = (dataDir: string): string => join(directoryOf(dataDir), 'half-made');

const exists = async (path: string): Promise<boolean> => {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
};

/** Before the database starts: removes a half-made one, and marks a new one as such. */
export const beginTables = async (dataDir: string): Promise<void> => {
  const files = FILES.map((name) => join(directoryOf(dataDir), name));
  if (await exists(markOf(dataDir))) {
    for (const file of files) await rm(file, { force: true });
    return;
  }
  if (await exists(join(directoryOf(dataDir), 'tables.sqlite'))) return;
  await mkdir(directoryOf(dataDir), { recursive: true, mode: PRIVATE_DIRECTORY });
  await writeFile(markOf(dataDir), '', { mode: PRIVATE_FILE });
};

/** When all tables are made, and before anything is stored in them. */
export const endTables = async (dataDir: string): Promise<void> => {
  if (!(await exists(markOf(dataDir)))) return;
  await rm(markOf(dataDir));
  // A mark that came back after a power cut would cost what was stored since.
  await syncDirectory(directoryOf(dataDir));
};
