/** Real repositories below a git harness, and what tests of capture and restore say of them again and again. */
import { mkdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { files, gitState } from './fingerprint.ts';
import { createHarness, type Harness, type HarnessOptions, type Snapshot } from './git-harness.ts';

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

/** What is compared: the world of these repositories, or what the test looks at. */
type Looks = string[] | (() => unknown);

interface Journey {
  /** How it looked before the work, and what was captured then. */
  looked: unknown;
  first: Snapshot;
}

/**
 * Captures, works, goes back and undoes that: all looks as it did before, and as it did after the work. `isCaptured`: goes on to
 * a capture of after the work instead.
 */
export const goesBackAndForth = async (
  harness: Harness,
  work: () => unknown,
  before: Looks = ['app'],
  after: Looks = before,
  isCaptured = false,
): Promise<Journey> => {
  const look = (looks: Looks) => (Array.isArray(looks) ? world(harness, looks) : looks());
  const looked = look(before);
  const first = await harness.capture();
  await work();
  const worked = look(after);
  const second = isCaptured ? await harness.capture() : undefined;
  const { undo } = await applies(harness, first);
  expect(look(before)).toEqual(looked);
  await applies(harness, second ?? undo);
  expect(look(after)).toEqual(worked);
  return { looked, first };
};
