/**
 * Tombstones on one machine that outlive the server: one file each, created once and synced to disk before
 * anything acts.
 */
import { createHash } from 'node:crypto';
import { fsync } from 'node:fs';
import { access, open } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Tombstones } from '../core/saga/ports.ts';
import { makeDirectory } from './make-directory.ts';

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

const syncDescriptor = promisify(fsync);

/** Not with the handle's own `sync`, which the file handles of Yarn's Plug'n'Play lack. */
const sync = async (path: string, flags: string): Promise<void> => {
  const handle = await open(path, flags);
  try {
    await syncDescriptor(handle.fd);
  } finally {
    await handle.close();
  }
};

export const openFileTombstones = async (directory: string): Promise<Tombstones> => {
  await makeDirectory(directory);
  const pathOf = (what: string): string => join(directory, createHash('sha256').update(what).digest('hex'));
  /** False when the file existed already. */
  const make = async (what: string): Promise<boolean> => {
    try {
      await sync(pathOf(what), 'wx');
      await sync(directory, 'r');
      return true;
    } catch (error) {
      if (isCode(error, 'EEXIST')) return false;
      throw error;
    }
  };
  return {
    bury: async (forwardKey) => void (await make(forwardKey)),
    isBuried: async (forwardKey) => {
      try {
        await access(pathOf(forwardKey));
        return true;
      } catch (error) {
        // Any other error does not tell whether the file exists, and a call that went on could act after it
        // was taken back.
        if (isCode(error, 'ENOENT')) return false;
        throw error;
      }
    },
    claim: (forwardKey, attempt) => make(`${forwardKey} ${attempt}`),
  };
};
