/**
 * Which work makes a target another one, for a merge with `expectUnchanged`: what captures of real repositories say. A sample, others
 * each time; all of it in `npm run test:long`.
 */
import { expect, test } from 'vitest';
import { requireUnchanged } from '../../core/checkpoint/compose/expect-unchanged.ts';
import type { RepositoryState } from '../../core/checkpoint/model.ts';
import { createHarness, type Snapshot } from '../support/git-harness.ts';
import { printedSeed, sampled } from '../support/sampling.ts';

const BEGIN = `
git init -q -b main r; cd r; echo text > text; git add -A; git commit -qm first
echo secret > private; chmod 600 private; mkdir -p empty/inside; echo staged > staged; git add staged`;

const WORK = [
  'echo more >> r/text',
  'chmod 640 r/private',
  'mkdir -p r/empty/other',
  'cd r; git add private',
  'cd r; git rm -q --cached staged',
  'cd r; git commit -q --allow-empty -m more',
  'cd r; git switch -qc topic',
  'cd r; git branch topic',
  'git init -q -b main new; echo n > new/n',
  'rm -rf r',
];

const statesOf = ({ repositories }: Snapshot): RepositoryState[] =>
  repositories.map((one) => ({ ...one, bundleBytes: 0 }));

test.concurrent.for(sampled(WORK, { every: 5, offset: printedSeed('unchanged targets'), minimum: 2 }))(
  '%s',
  async (work) => {
    await using harness = await createHarness();
    harness.sh(BEGIN);
    const base = await harness.capture();
    harness.sh('cd r; git status; git log; touch text; cat private; git diff');
    const looked = await harness.capture();
    expect(() => requireUnchanged('s', statesOf(looked), statesOf(base))).not.toThrow();
    harness.sh(work);
    const worked = await harness.capture();
    expect(() => requireUnchanged('s', statesOf(worked), statesOf(base))).toThrow(
      /^Session "s" was worked in/,
    );
    expect((await harness.rollback(base)).report.outcome).toBe('applied');
    harness.sh('rm -rf new');
    const back = await harness.capture();
    expect(() => requireUnchanged('s', statesOf(back), statesOf(base))).not.toThrow();
  },
);
