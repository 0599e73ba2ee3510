/**
 * The native program of the sandbox composes what the scripts compose: the same trees, host states and commits, and it says the
 * same of them: a third of the cases of merges and of partial rollbacks. The laws and random histories are in
 * `git-native-merge.long.test.ts`.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createHarness } from '../support/git-harness.ts';
import { besideComposes, countedComposes } from '../support/git-native-compose.ts';
import { MERGE_CASES, mergesAndReverts } from '../support/merge-cases.ts';
import { BUILT, canBuildNext } from '../support/next-program.ts';
import { somePathsGoBack } from '../support/paths-cases.ts';
import { printedSeed, sampled } from '../support/sampling.ts';

const seed = printedSeed('native merges');

describe.runIf(canBuildNext())('the native merge', () => {
  beforeAll(...BUILT);
  beforeAll(() => {
    besideComposes.native = new Map();
  });
  afterAll(() => {
    process.stdout.write(countedComposes());
    delete besideComposes.native;
  });

  test('brings one line into other work', async () => {
    await using harness = await createHarness();
    harness.sh('git init -q -b main app; cd app; seq 9 > a; git add a; git commit -qm one');
    const base = await harness.capture();
    harness.sh('sed -i 9s/.*/theirs/ a', 'app');
    const theirs = await harness.capture();
    expect((await harness.rollback(base)).report.outcome).toBe('applied');
    harness.sh('sed -i 1s/.*/ours/ a', 'app');
    await harness.capture();
    const { report, merged } = await harness.compose([{ base, theirs }]);
    expect([report.conflicts, report.failures]).toEqual([[], []]);
    expect((await harness.rollback(merged)).report.outcome).toBe('applied');
    expect(harness.sh('sed -n "1p;9p" a', 'app')).toBe('ours\ntheirs\n');
    expect(besideComposes.native?.get('compared')).toBe(1);
  });

  test.for(sampled(MERGE_CASES, { every: 40, whole: 3, offset: seed }))(
    'merged and taken back: $name',
    mergesAndReverts,
  );
  test.for(sampled(MERGE_CASES, { every: 60, whole: 3, offset: seed + 1 }))(
    'some paths: $name',
    somePathsGoBack,
  );
});
