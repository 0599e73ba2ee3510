/** Which files run first: one that takes long and starts last is waited for alone. A fresh checkout has no times of earlier runs. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const LONGEST = [
  'test/contract/git-restore-faults.long.test.ts',
  'test/contract/git-faults-capture.long.test.ts',
  'test/scenario/faults-workspace-kill.long.test.ts',
  'test/scenario/faults-process-kill.long.test.ts',
  'test/scenario/faults-rollback.long.test.ts',
  'test/scenario/faults-rehydrate.long.test.ts',
  'test/contract/git-random-session.long.test.ts',
  'test/contract/git-settle.long.test.ts',
  'test/scenario/faults-script-kill.long.test.ts',
  'test/contract/git-cases.long.test.ts',
  'test/contract/git-low-memory.long.test.ts',
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

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}
