/**
 * Which files run first: one that takes long and starts last is waited for alone. A fresh checkout has no times of earlier runs.
 * And which belong to each part of `--shard`.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { isPlayedInPart } from './long-files.ts';

/**
 * Seconds of long files, as the machine of the check measured them. Null: known to be long, and not measured since. The check
 * prints the seconds of each file (`.ci/run`): write what differs by much here. Then parts change once, and a file that moves
 * may be a commit or two older than three.
 */
const LONG_SECONDS: Readonly<Record<string, number | null>> = {
  'test/contract/git-restore-faults.test.ts': null,
  'test/contract/git-settle.test.ts': null,
  'test/contract/git-faults-capture.test.ts': 111,
  'test/contract/git-disk-captures.test.ts': null,
  'test/contract/git-disk-late.test.ts': null,
  'test/contract/git-disk-restores.test.ts': null,
  'test/contract/git-killed-instants.test.ts': null,
  'test/contract/git-torn-objects.test.ts': null,
  'test/scenario/bisect.test.ts': 210,
  'test/contract/git-blame.test.ts': 160,
  'test/scenario/faults-rollback.test.ts': 90,
  'test/scenario/faults-checkpoint.test.ts': 80,
  'test/scenario/nothing-in-logs.long.test.ts': 79,
  'test/scenario/cli-demo.test.ts': 75,
  'test/scenario/faults-rehydrate.test.ts': null,
  'test/scenario/faults-workspace-kill.test.ts': null,
  'test/scenario/properties-session.test.ts': 64,
  'test/scenario/faults-process-kill.test.ts': null,
  'test/contract/git-stat-table.test.ts': null,
  'test/scenario/templates.long.test.ts': 56,
  'test/infra/packages.long.test.ts': null,
  'test/scenario/faults-sandbox-kill.test.ts': null,
  'test/unit/refund-saga-matrix.test.ts': 46,
  'test/unit/interactive-matrix.test.ts': 44,
  'test/contract/git-cases.test.ts': null,
  'test/unit/bench-arguments.test.ts': 40,
  'test/contract/git-low-memory.test.ts': null,
  'test/scenario/ledger-edits.test.ts': 36,
  'test/scenario/claude-code-hooks.test.ts': 33,
  'test/scenario/merge-forks.long.test.ts': 30,
  'test/scenario/page-roles.long.test.ts': 30,
  'test/contract/git-random-session.test.ts': null,
  'test/unit/saga-settled-view.test.ts': 23,
  'test/scenario/saga-inline-kill.long.test.ts': null,
  'test/infra/bundles.test.ts': null,
  'test/scenario/console-sessions.long.test.ts': null,
};

/** What such a file, and any other, is taken for. */
const ASSUMED_LONG_SECONDS = 60;
const ASSUMED_SECONDS = 10;

/** The longest of those that `npm test` plays. */
const FIRST_IN_EVERY_TEST = [
  'test/contract/git-lost-objects.test.ts',
  // Of one project: a process is used again for the next file only when that is of the same project.
  'test/scenario/checkpoint-concurrency.test.ts',
  'test/scenario/rewind.test.ts',
  'test/scenario/cli-alone.test.ts',
  'test/scenario/cli-session.test.ts',
  'test/scenario/rollback-refused.test.ts',
  'test/scenario/faults-process-kill.test.ts',
  'test/scenario/faults-sandbox-kill.test.ts',
].map((path) => resolve(path));

const SECONDS = new Map(
  Object.entries(LONG_SECONDS).map(([path, seconds]) => [resolve(path), seconds ?? ASSUMED_LONG_SECONDS]),
);

for (const path of [...SECONDS.keys(), ...FIRST_IN_EVERY_TEST])
  if (!existsSync(path)) throw new Error(`${path} is named in longest-first.ts, and is gone.`);

/** How long a file takes, by its path. */
export const secondsOf = (path: string): number => SECONDS.get(path) ?? ASSUMED_SECONDS;

/** Among files that are taken for equally long, those that are named come first. */
const rank = ({ moduleId }: TestSpecification): number => {
  const at = FIRST_IN_EVERY_TEST.indexOf(moduleId);
  return at === -1 ? FIRST_IN_EVERY_TEST.length : at;
};

type Seconds = (path: string) => number;

/** In `npm test`, where such a file is played in part. */
const secondsInPart: Seconds = (path) => (isPlayedInPart(path) ? ASSUMED_SECONDS : secondsOf(path));

const longestFirst =
  (seconds: Seconds) =>
  (a: TestSpecification, b: TestSpecification): number =>
    seconds(b.moduleId) - seconds(a.moduleId) || rank(a) - rank(b);

const byName = (a: TestSpecification, b: TestSpecification): number => a.moduleId.localeCompare(b.moduleId);

/** Deals out the longest file first, each to the part that has the least to do. */
const deal = <File>(files: readonly File[], seconds: (file: File) => number, count: number): File[][] => {
  const parts = Array.from({ length: count }, () => ({ files: [] as File[], sum: 0 }));
  for (const file of files.toSorted((a, b) => seconds(b) - seconds(a))) {
    const least = parts.reduce((found, part) => (part.sum < found.sum ? part : found));
    least.files.push(file);
    least.sum += seconds(file);
  }
  return parts.map((part) => part.files);
};

/**
 * The files of one part of several that take turns, the longest first. Each part takes about as long as the others. When the
 * time cuts a part, it cuts the end of it. So the next part begins with the last half of this one, which are its short files:
 * what was cut comes first next time, and nobody has to remember what it was.
 */
export const filesOfPart = <File>(
  files: readonly File[],
  seconds: (file: File) => number,
  { index, count }: { index: number; count: number },
): { carried: File[]; own: File[] } => {
  const parts = deal(files, seconds, count);
  const part = (number: number): File[] => parts[number % count] ?? [];
  const before = part(index - 2 + count);
  return { carried: before.slice(Math.floor(before.length / 2)), own: part(index - 1) };
};

export class LongestFirst extends BaseSequencer {
  /** Where a file of a part has its turn. Only so is what the time cuts the end of the part. */
  #turns: ReadonlyMap<string, number> = new Map();

  override async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { carried, own } = filesOfPart(
      files.toSorted((a, b) => longestFirst(secondsOf)(a, b) || byName(a, b)),
      ({ moduleId }) => secondsOf(moduleId),
      this.ctx.config.shard ?? { index: 1, count: 1 },
    );
    // Only where parts take turns: whoever asks for one part gets that part.
    const played = process.env['WALKBACK_CARRIED'] === '1' ? [...carried, ...own] : own;
    this.#turns = new Map(played.map(({ moduleId }, turn) => [moduleId, turn]));
    return played;
  }

  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const turn = ({ moduleId }: TestSpecification): number => this.#turns.get(moduleId) ?? this.#turns.size;
    const sorted = await super.sort(files);
    const seconds = this.ctx.config.env['WALKBACK_WHOLE'] === '1' ? secondsOf : secondsInPart;
    return sorted.toSorted((a, b) => turn(a) - turn(b) || longestFirst(seconds)(a, b));
  }
}
