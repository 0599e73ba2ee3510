/** A disk of its own for a harness, in memory, whose size and number of files can be set while it is used. Only root may mount one. */
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { createHarness, type Harness, type HarnessOptions } from './git-harness.ts';
import { TWO_FILES } from './git-repositories.ts';
import { runSync } from './run-sync.ts';

const PLACE = { cwd: '/', env: { PATH: process.env['PATH'] ?? '' } };
const AMPLE = 'size=512m,nr_inodes=400k';

export interface SmallDisk extends Disposable {
  path: string;
  /** From now on there is room for so many KiB, or files, more than there are. */
  leave: (more: { kib?: number; files?: number }) => void;
  grow: () => void;
}

export const smallDisk = (): SmallDisk => {
  const path = mkdtempSync(join(tmpdir(), 'walkback-disk-'));
  runSync('mount', ['-t', 'tmpfs', '-o', AMPLE, 'tmpfs', path], PLACE);
  const remount = (options: string) => runSync('mount', ['-o', `remount,${options}`, path], PLACE);
  return {
    path,
    leave: ({ kib, files }) => {
      const { blocks, bfree, bsize, files: inodes, ffree } = statfsSync(path);
      if (kib !== undefined) remount(`size=${((blocks - bfree) * bsize) / 1024 + kib}k`);
      if (files !== undefined) remount(`nr_inodes=${inodes - ffree + files}`);
    },
    grow: () => {
      remount(AMPLE);
    },
    [Symbol.dispose]: () => {
      runSync('umount', ['-l', path], PLACE);
      rmSync(path, { recursive: true });
    },
  };
};

/** A harness of which everything is on this disk. */
export const harnessOn = async (disk: SmallDisk, options?: HarnessOptions): Promise<Harness> => {
  vi.stubEnv('TMPDIR', disk.path);
  try {
    return await createHarness(options);
  } finally {
    vi.unstubAllEnvs();
  }
};

/** The same with a repository `app` of two files. */
export const withTwoFilesOn = async (disk: SmallDisk, options?: HarnessOptions): Promise<Harness> => {
  const harness = await harnessOn(disk, options);
  harness.sh(`mkdir app; cd app; ${TWO_FILES}`);
  return harness;
};
