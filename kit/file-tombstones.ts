/** Tombstones that survive a server on one machine: a file for each, made once and on disk before anything acts. */
import { createHash } from 'node:crypto';
import { access, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Tombstones } from '../core/saga/ports.ts';
import { makeDirectory } from './make-directory.ts';

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;

export const openFileTombstones = async (directory: string): Promise<Tombstones> => {
  await makeDirectory(directory);
  const pathOf = (what: string): string => join(directory, createHash('sha256').update(what).digest('hex'));
  /** False when it was there. */
  const make = async (what: string): Promise<boolean> => {
    try {
      await using file = await open(pathOf(what), 'wx');
      await file.sync();
      await using folder = await open(directory);
      await folder.sync();
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
        // Whatever else keeps it from being seen says nothing, and a call that goes on may act after it was taken back.
        if (isCode(error, 'ENOENT')) return false;
        throw error;
      }
    },
    claim: (forwardKey, attempt) => make(`${forwardKey} ${attempt}`),
  };
};
