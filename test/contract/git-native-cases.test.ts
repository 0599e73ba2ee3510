/** The native program sees in every case of the case lists what the scripts capture: before, after, and on the way back. */
import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GIT_CASES, INIT } from '../support/git-cases.ts';
import { createHarness } from '../support/git-harness.ts';
import { besideCaptures, nativeProgram } from '../support/git-native.ts';
import { printedSeed, sampled } from '../support/sampling.ts';

describe('the native look', () => {
  beforeAll(() => {
    besideCaptures.native = { program: nativeProgram(), states: 0 };
  });
  afterAll(() => {
    process.stdout.write(`git-native-cases: ${besideCaptures.native?.states} states compared\n`);
    delete besideCaptures.native;
  });

  test.for(sampled(GIT_CASES, { every: 9, offset: printedSeed('native cases'), minimum: 4 }))(
    '$name',
    async ({ setup, damage, options }) => {
      await using harness = await createHarness(options);
      mkdirSync(`${harness.root}/app`);
      harness.sh(INIT, 'app');
      harness.sh(setup, 'app');
      const first = await harness.capture();
      await harness.capture();
      harness.sh(damage, 'app');
      const second = await harness.capture();
      expect((await harness.rollback(first)).report.outcome).toBe('applied');
      await harness.capture();
      expect((await harness.rollback(second)).report.outcome).toBe('applied');
      await harness.capture();
    },
  );
});

describe('native captures', () => {
  test.for(sampled(GIT_CASES, { every: 12, offset: printedSeed('native captures'), minimum: 3 }))(
    'are where the restores of the scripts start and go: $name',
    async ({ setup, damage, options }) => {
      await using harness = await createHarness({ ...options, isNative: true });
      mkdirSync(`${harness.root}/app`);
      harness.sh(INIT, 'app');
      harness.sh(setup, 'app');
      const first = await harness.capture();
      await harness.capture();
      harness.sh(damage, 'app');
      const second = await harness.capture();
      expect((await harness.rollback(first)).report.outcome).toBe('applied');
      await harness.capture();
      expect((await harness.rollback(second)).report.outcome).toBe('applied');
      await harness.capture();
    },
  );
});
