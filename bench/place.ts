/**
 * The temporary directory of a run: in memory when there is room, and removed when the run ends, even when
 * it is interrupted. (DynamoDB's process ends by itself when ours does.)
 */
import { rmSync, statfsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY = '/dev/shm';
const WANTED_BYTES = 4 * 1024 ** 3;

const hasRoom = (directory: string): boolean => {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize >= WANTED_BYTES;
  } catch {
    return false;
  }
};

export interface Place {
  /** Makes an empty directory. */
  directory(name: string): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
}

const REMOVE = { recursive: true, force: true, maxRetries: 5 } as const;

export const createPlace = async (): Promise<Place> => {
  const top = await mkdtemp(join(hasRoom(MEMORY) ? MEMORY : tmpdir(), 'walkback-bench-'));
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  // There may be several places: whichever gets the signal first, all of them go.
  const remove = (): void => rmSync(top, REMOVE);
  const leave = (signal: (typeof signals)[number]): never => process.exit(128 + constants.signals[signal]);
  process.once('exit', remove);
  for (const signal of signals) process.once(signal, leave);
  return {
    directory: async (name) => {
      const made = join(top, name);
      await mkdir(made, { recursive: true });
      return made;
    },
    [Symbol.asyncDispose]: async () => {
      process.off('exit', remove);
      for (const signal of signals) process.off(signal, leave);
      await rm(top, REMOVE);
    },
  };
};
