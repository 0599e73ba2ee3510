import { accessSync, constants, statfsSync } from 'node:fs';
import { defineConfig } from 'vitest/config';

const GIBIBYTE = 1024 ** 3;

/** Tests write many small files; memory is several times faster than a disk, where there is room. */
const temporaryDirectory = (): Record<string, string> => {
  try {
    accessSync('/dev/shm', constants.W_OK);
    const { bavail, bsize } = statfsSync('/dev/shm');
    return bavail * bsize >= 4 * GIBIBYTE ? { TMPDIR: '/dev/shm' } : {};
  } catch {
    return {};
  }
};

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    env: temporaryDirectory(),
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Two cores: more workers only make git and the embedded cloud wait for each other.
    maxWorkers: 2,
  },
});
