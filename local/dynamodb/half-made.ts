/**
 * Handles the database of a start that broke off before all tables were made, because of a full disk or the
 * end of the process. Some tables may then be incomplete, which nothing else shows. Nothing was stored in it
 * yet, so the next start makes it anew.
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

/** Call before the database starts. Removes a half-made database, and marks a new one as half-made. */
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

/** Call when all tables are made, before anything is stored in them. */
export const endTables = async (dataDir: string): Promise<void> => {
  if (!(await exists(markOf(dataDir)))) return;
  await rm(markOf(dataDir));
  // If the mark came back after a power cut, everything that was stored since would be deleted.
  await syncDirectory(directoryOf(dataDir));
};
