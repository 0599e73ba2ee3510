/**
 * Which files run first: one that takes long and starts last is waited for alone. A fresh checkout has no times of earlier runs.
 * And which belong to each part of `--shard`.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const LONGEST = [
  'test/contract/git-restore-faults.long.test.ts',
  'test/contract/git-settle.long.test.ts',
  'test/scenario/faults-rollback.long.test.ts',
  'test/scenario/faults-rehydrate.long.test.ts',
  'test/scenario/faults-workspace-kill.long.test.ts',
  'test/contract/git-faults-capture.long.test.ts',
  'test/scenario/faults-process-kill.long.test.ts',
  'test/contract/git-stillness.long.test.ts',
  'test/contract/git-shapes.long.test.ts',
  'test/infra/packages.long.test.ts',
  'test/scenario/faults-script-kill.long.test.ts',
  'test/contract/git-cases.long.test.ts',
  'test/contract/git-low-memory.long.test.ts',
  'test/contract/git-random-session.long.test.ts',
  'test/scenario/saga-inline-kill.long.test.ts',
  'test/infra/bundles.long.test.ts',
  'test/scenario/console-sessions.long.test.ts',
  'test/contract/git-lost-objects.test.ts',
  // Of one project: a process is used again for the next file only when that is of the same project.
  'test/scenario/checkpoint-concurrency.test.ts',
  'test/scenario/rewind.test.ts',
  'test/scenario/cli-alone.test.ts',
  'test/scenario/cli-session.test.ts',
  'test/scenario/rollback-refused.test.ts',
  'test/scenario/faults-process-kill.test.ts',
  'test/scenario/faults-script-kill.test.ts',
].map((path) => resolve(path));

for (const path of LONGEST)
  if (!existsSync(path)) throw new Error(`${path} is named in longest-first.ts, and is gone.`);

const rank = ({ moduleId }: TestSpecification): number => {
  const at = LONGEST.indexOf(moduleId);
  return at === -1 ? LONGEST.length : at;
};

const byRank = (files: readonly TestSpecification[]): TestSpecification[] =>
  files.toSorted((a, b) => rank(a) - rank(b) || a.moduleId.localeCompare(b.moduleId));

/**
 * The files of one part of several that take turns. They are dealt out, so that each part has its share of those that
 * take long. When the time cuts a part, it cuts the end of it. So the next part begins with the last half of this
 * one, which are its short files: what was cut comes first next time, and nobody has to remember what it was.
 */
export const filesOfPart = <File>(
  longestFirst: readonly File[],
  { index, count }: { index: number; count: number },
): { carried: File[]; own: File[] } => {
  const part = (number: number): File[] => longestFirst.filter((_, at) => at % count === number % count);
  const before = part(index - 2 + count);
  return { carried: before.slice(Math.floor(before.length / 2)), own: part(index - 1) };
};

export class LongestFirst extends BaseSequencer {
  #carried: readonly TestSpecification[] = [];

  override async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { carried, own } = filesOfPart(byRank(files), this.ctx.config.shard ?? { index: 1, count: 1 });
    // Only where parts take turns: whoever asks for one part gets that part.
    this.#carried = process.env['WALKBACK_CARRIED'] === '1' ? carried : [];
    return [...this.#carried, ...own];
  }

  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const carried = new Set(this.#carried.map(({ moduleId }) => moduleId));
    const first = (file: TestSpecification): number => (carried.has(file.moduleId) ? 0 : 1);
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => first(a) - first(b) || rank(a) - rank(b));
  }
}
