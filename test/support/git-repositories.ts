/** Real repositories below a git harness, and what tests of capture and restore say of them again and again. */
import { mkdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { files, gitState } from './fingerprint.ts';
import { createHarness, type Harness, type HarnessOptions } from './git-harness.ts';

/** One repository with one commit of one file. */
export const ONE_FILE = 'git init -q -b main . && echo one > f.txt && git add -A && git commit -qm one';

/** One repository with one commit of a file and of one in a folder. */
export const TWO_FILES =
  'git init -q -b main . && echo one > a.txt && mkdir -p src && echo code > src/main.c && git add -A && git commit -qm one';

/** A harness in which `make`, bash, made each of these repositories. */
export const withRepositories = async (
  names: string[],
  options?: HarnessOptions,
  make: string = ONE_FILE,
): Promise<Harness> => {
  const harness = await createHarness(options);
  for (const name of names) {
    mkdirSync(`${harness.root}/${name}`, { recursive: true });
    harness.sh(make, name);
  }
  return harness;
};

export const withTwoFiles = (names: string[], options?: HarnessOptions): Promise<Harness> =>
  withRepositories(names, options, TWO_FILES);

/** All files, and the git state of these repositories. */
export const world = (harness: Harness, names: string[]): string[] => [
  ...files(harness.root),
  ...names.flatMap((name) => gitState(`${harness.root}/${name}`).map((line) => `${name}: ${line}`)),
];

export const text = (harness: Harness, path: string): string =>
  readFileSync(`${harness.root}/${path}`, 'utf8');

/** Rebuilds it in a fresh sandbox, and fails unless that was applied without a word. */
export const rebuilds = async (harness: Harness, ...[target]: Parameters<Harness['rehydrate']>) => {
  const { outcome, problems } = await harness.rehydrate(target);
  expect([outcome, problems]).toEqual(['applied', []]);
};

/** Rolls back, and fails unless it was applied without a word. */
export const applies = async (harness: Harness, ...[target, flags]: Parameters<Harness['rollback']>) => {
  const done = await harness.rollback(target, flags);
  expect(done.report.problems).toEqual([]);
  expect(done.report.outcome).toBe('applied');
  return done;
};
