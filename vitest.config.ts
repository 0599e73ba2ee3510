import { randomInt } from 'node:crypto';
import { accessSync, constants, statfsSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

const GIBIBYTE = 1024 ** 3;

/** One for a whole run, so that what takes turns by it agrees, and the run can be done again. */
process.env['SEED'] ??= String(randomInt(2 ** 31));
process.stderr.write(`SEED=${process.env['SEED']}\n`);

/** The modes that tests expect are those of files made with it, whoever runs them. */
process.umask(0o022);

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
const GIT = 'test/contract/git-*.test.ts';
/** Of the infrastructure, but with a cloud and without constructs. */
const PLAYED = 'test/infra/{costs,events,grants}.test.ts';

/**
 * The files of a project run one after another in a few processes, which have loaded the SDKs and compiled what is hot once
 * and not for every file. So a file leaves its process as it found it: clouds closed, variables and prototypes put back.
 */
const shared = (
  name: string,
  include: string[],
  more: { exclude?: string[]; setupFiles?: string[] } = {},
) => ({
  extends: true as const,
  test: { name, include, ...more, exclude: [...LONG, ...(more.exclude ?? [])], isolate: false },
});

export default defineConfig({
  test: {
    // As the embedded cloud has it: a handler that a test imports must not make the X-Ray SDK follow every promise.
    env: { ...temporaryDirectory(), AWS_XRAY_MANUAL_MODE: 'true' },
    setupFiles: process.env['WALKBACK_TIMES'] === undefined ? [] : ['test/support/processor-time.ts'],
    projects: [
      shared('cloud', ['test/{contract,scenario}/**/*.test.ts', PLAYED], {
        exclude: [GIT],
        setupFiles: ['test/support/granted-calls.ts'],
      }),
      // Apart from the SDKs: a process starts others more slowly the larger it is.
      shared('git', [GIT]),
      shared('infra', ['test/infra/**/*.test.ts'], {
        exclude: [PLAYED],
        setupFiles: ['test/support/after-infra.ts'],
      }),
      shared('unit', ['test/unit/**/*.test.ts']),
    ],
    // Time-outs find what hangs, not what is slow: the machine may be busy with other work.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    sequence: { sequencer: LongestFirst },
    // Two cores, and a third file for while others wait for time-outs and back-offs.
    maxWorkers: 3,
  },
});
