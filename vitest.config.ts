import { accessSync, constants, statfsSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

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

/** Run by `npm run test:long`. */
const LONG = ['**/*.long.test.ts'];

export default defineConfig({
  test: {
    env: temporaryDirectory(),
    projects: [
      // Touches nothing outside its own module, so files may share a process and what it has loaded.
      {
        extends: true,
        test: { name: 'unit', include: ['test/unit/**/*.test.ts'], exclude: LONG, isolate: false },
      },
      {
        extends: true,
        test: { name: 'real', include: ['test/{contract,scenario,infra}/**/*.test.ts'], exclude: LONG },
      },
    ],
    // Time-outs find what hangs, not what is slow: the machine may be busy with other work.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    sequence: { sequencer: LongestFirst },
    // Two cores, and a third file for while others wait for time-outs and back-offs.
    maxWorkers: 3,
  },
});
